"""The tables of docs/promises.md, from the runs kept in docs/results/decisions.json.

    python benchmarks/promises.py [bench-out/decisions.jsonl]

With a file of benchmarks/decisions.py its runs are kept, in the place of earlier ones of the same problem and method.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reliability import ROOT, newest_of_main

KEPT = ROOT / "docs" / "results" / "decisions.json"
PAGE = ROOT / "docs" / "promises.md"
BEGIN, END = "<!-- begin: made by benchmarks/promises.py -->\n", "<!-- end -->\n"
TARGETS = (90, 95)  # per cent
SLACK = 0.02  # by which realised precision may miss the target
FEW = 20  # matches, or right pairs of the oracle, that say little about a share
SAME = ("problem", "method", "accounts", "anchors", "drawn", "test")  # what runs of a group have in common
Group = dict[str, Any]


def group(rows: Sequence[dict[str, Any]]) -> Group:
    """The runs of one problem by one method: what they share, and a list of each other figure, by seed."""
    runs = sorted(rows, key=lambda row: (isinstance(row["seed"], str), row["seed"]))
    return {key: runs[0][key] if key in SAME else [row[key] for row in runs] for key in runs[0]}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _ratios(own: Group, target: int) -> list[float]:
    """Recall beside the oracle's, of runs in which the oracle finds enough; more than 1 is bought with precision."""
    runs = zip(own[f"recall_{target}"], own[f"oracle_{target}"], strict=True)
    return [min(recall / best, 1.0) for recall, best in runs if best * own["test"] >= FEW]


def _spread(own: Group, target: int) -> float | None:
    """By how much the smallest count is below the largest; None where all are small."""
    counts = own[f"matches_{target}"]
    return 1 - min(counts) / max(counts) if max(counts) >= FEW else None


def _precisions(own: Group, target: int) -> list[float]:
    """Of runs with enough matches."""
    runs = zip(own[f"matches_{target}"], own[f"precision_{target}"], strict=True)
    return [precision for matches, precision in runs if matches >= FEW and precision is not None]


def promises(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """Each promise and what became of it."""
    rows = []
    for target in TARGETS:
        q = f"target {target / 100:g}"
        precisions = [p for own in groups for p in _precisions(own, target)]
        if precisions:
            kept = [p >= target / 100 - SLACK for p in precisions]
            words = f"of {len(kept)} runs, least {min(precisions):.2f}"
            rows.append((f"{q}: precision at least {target / 100 - SLACK:.2f}", f"{sum(kept) / len(kept):.0%} {words}"))
        ratios = [r for own in groups for r in _ratios(own, target)]
        if ratios:
            least = min((min(_ratios(own, target)), own["problem"]) for own in groups if _ratios(own, target))
            words = f"mean {sum(ratios) / len(ratios):.2f}, least {least[0]:.2f} ({least[1]})"
            rows.append((f"{q}: recall / oracle's", words))
        spreads = [(found, own["problem"]) for own in groups if (found := _spread(own, target)) is not None]
        if spreads:
            close = sum(found <= 0.1 for found, _ in spreads)
            words = f"within 10 % on {close} of {len(spreads)} problems, most {max(spreads)[0]:.0%} ({max(spreads)[1]})"
            rows.append((f"{q}: spread of counts", words))
    for key, words in (("ece", "ECE given a counterpart"), ("ece_all", "ECE over all assigned pairs")):
        errors = [(error, own["problem"]) for own in groups for error in _known(own[key])]
        if errors:
            mean = sum(error for error, _ in errors) / len(errors)
            rows.append((words, f"mean {mean:.3f}, most {max(errors)[0]:.3f} ({max(errors)[1]})"))
    off = [
        (abs(estimated - true), own["problem"])
        for own in groups
        for estimated, true in zip(own["share_estimated"], own["share"], strict=True)
        if true is not None
    ]
    if off:
        mean = sum(error for error, _ in off) / len(off)
        rows.append(("share with a counterpart, error", f"mean {mean:.3f}, most {max(off)[0]:.3f} ({max(off)[1]})"))
    cpu, part = (sum(sum(own[key]) for own in groups) for key in ("cpu", "cpu_calibration"))
    return [*rows, ("CPU", f"{cpu:.0f} s, {part / max(cpu, 1e-9):.0%} of it calibration")]


def _cell(values: Iterable[float | None]) -> str:
    """The figures of all runs in short: .97/.95/-."""
    return "/".join("-" if v is None else f"{v:.2f}".removeprefix("0") for v in values)


def line(own: Group) -> str:
    """One line for a terminal."""
    parts = [f"{own['problem']:34} {own['method']:9} {own['anchors']:5}"]
    for target in TARGETS:
        *seeds, shuffled = own[f"matches_{target}"]
        ratios = [r / o if o else None for r, o in zip(own[f"recall_{target}"], own[f"oracle_{target}"], strict=True)]
        counts = "/".join(map(str, seeds)) + f"~{shuffled}"
        precision = _cell(own[f"precision_{target}"])
        oracle = sum(own[f"oracle_{target}"]) / len(ratios)
        parts.append(f"@{target} {counts} right {precision} recall/oracle {_cell(ratios)} of {oracle:.2f}")
    parts.append(f"ECE {_cell(own['ece'])} all {_cell(own['ece_all'])}")
    parts.append(f"share {_cell(own['share'][:1])}: {_cell(own['share_estimated'])}")
    cpu, part = sum(own["cpu"]) / len(own["cpu"]), sum(own["cpu_calibration"]) / len(own["cpu"])
    return " | ".join([*parts, f"cpu {cpu:.1f} ({part:.1f})"])


def _range(values: Iterable[float | None], digits: int = 2) -> str:
    """From the least to the most of what is known."""
    found = sorted({f"{v:.{digits}f}" for v in _known(values)}, key=float)
    return "-" if not found else found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}"


HEAD = (
    "| problem | method | accounts | anchors, drawn | share | estimated | target | matches | precision | recall |"
    " oracle's | ECE | of all |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
)


def table(groups: Sequence[Group]) -> str:
    """Every problem, with the least and the most over all runs."""
    lines = []
    for own in groups:
        size = " + ".join(f"{n:,}" for n in own["accounts"])
        head = [own["problem"], own["method"], size, f"{own['anchors']:,}, {own['drawn']}"]
        # The run with its sides exchanged is about the accounts of the other network.
        head += [_range(own[key][:-1]) for key in ("share", "share_estimated")]
        for place, target in enumerate(TARGETS):
            cells = [*(head if place == 0 else [""] * len(head)), f"{target / 100:g}"]
            cells.append(_range(own[f"matches_{target}"], 0))
            cells += [_range(own[f"{key}_{target}"]) for key in ("precision", "recall", "oracle")]
            cells += [_range(own[key]) if place == 0 else "" for key in ("ece", "ece_all")]
            lines.append("| " + " | ".join(cells) + " |\n")
    return HEAD + "".join(lines)


def page() -> str:
    """The generated part of the page."""
    kept = json.loads(KEPT.read_text("utf-8"))
    parts = []
    for method in dict.fromkeys(own["method"] for own in kept):
        groups = [own for own in kept if own["method"] == method]
        runs = sum(len(own["seed"]) for own in groups)
        parts.append(
            f"`{method}`, {len(groups)} problems, {runs} runs ({groups[0]['date']}, {groups[0]['commit']}):\n\n"
        )
        parts.append("".join(f"- {words}: {figure}\n" for words, figure in promises(groups)) + "\n")
    return "".join(parts) + table(kept)


def keep(file: Path) -> None:
    """Keep the runs of a file of rows."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for text in file.read_text("utf-8").splitlines():
        row = json.loads(text)
        runs[row["problem"], row["method"]].append(row)
    stamp = {"date": datetime.now(UTC).date().isoformat(), "commit": newest_of_main()}
    fresh = [group(rows) | stamp for rows in runs.values()]
    earlier = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else []
    whole = [own for own in earlier if (own["problem"], own["method"]) not in runs] + fresh
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text("[\n" + ",\n".join(json.dumps(own) for own in whole) + "\n]\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="?")
    asked = parser.parse_args()
    if asked.rows:
        keep(asked.rows)
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + page() + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
