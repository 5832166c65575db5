"""The tables of docs/promises.md, from the figures kept in docs/results.

    python benchmarks/promises.py [bench-out/decisions.jsonl]

With a file of benchmarks/decisions.py its runs are kept, in the place of earlier ones of the same problem and method.
benchmarks/review_answers.py keeps its own with KEDGE_KEEP=1.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reliability import ROOT, newest_of_main

KEPT = ROOT / "docs" / "results" / "decisions.json"
ANSWERS = ROOT / "docs" / "results" / "review_answers.json"
PAGE = ROOT / "docs" / "promises.md"
BEGIN, END = "<!-- begin: made by benchmarks/promises.py -->\n", "<!-- end -->\n"
TARGETS = (90, 95)  # per cent
SLACK = 2  # per cent by which realised precision may miss the target
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
        least, q = (target - SLACK) / 100, f"target {target / 100:g}"
        right = [(p, own["problem"]) for own in groups for p in _precisions(own, target)]
        kept = f"{sum(p >= least for p, _ in right) / len(right):.0%} of {len(right)}" if right else "-"
        rows.append((f"{q}: precision from {least:.2f} on in 95 % of the runs", kept))
        rows.append((f"{q}: precision, lowest", _extreme(right, min)))
        ratios = [(r, own["problem"]) for own in groups for r in _ratios(own, target)]
        rows.append((f"{q}: recall / oracle's, mean at least 0.85", _mean(ratios)))
        rows.append((f"{q}: recall / oracle's, at least 0.70", _extreme(ratios, min)))
        spreads = [(found, own["problem"]) for own in groups if (found := _spread(own, target)) is not None]
        close = sum(found <= 0.1 for found, _ in spreads)
        within = f"{close} of {len(spreads)} problems" if spreads else "-"
        rows.append((f"{q}: counts of a problem within 10 %", within))
        rows.append((f"{q}: counts, largest difference", _extreme(spreads, max)))
    for key, words in (("ece", "ECE given a counterpart, at most 0.05"), ("ece_all", "ECE of all, at most 0.08")):
        errors = [(error, own["problem"]) for own in groups for error in own[key] if error is not None]
        rows.append((words, f"{_extreme(errors, max)}, mean {_mean(errors, 3)}"))
    off = [
        (abs(estimated - true), own["problem"])
        for own in groups
        for estimated, true in zip(own["share_estimated"], own["share"], strict=True)
        if true is not None
    ]
    rows.append(("estimated share with a counterpart, error", f"{_extreme(off, max)}, mean {_mean(off, 3)}"))
    cpu, part = (sum(sum(own[key]) for own in groups) for key in ("cpu", "cpu_calibration"))
    runs = sum(len(own["cpu"]) for own in groups)
    of_it = f", of it calibration {part / runs:.1f} s" if part else ""  # 0: not measured apart
    return [*rows, ("CPU of a run", f"{cpu / runs:.1f} s{of_it}")]


def _mean(found: Sequence[tuple[float, str]], digits: int = 2) -> str:
    return f"{sum(value for value, _ in found) / len(found):.{digits}f}" if found else "-"


def _extreme(found: Sequence[tuple[float, str]], pick: Callable[..., tuple[float, str]]) -> str:
    """The least or the most, and whose it is."""
    return "{:.2f} ({})".format(*pick(found)) if found else "-"


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
    found = list(dict.fromkeys(f"{v:,.{digits}f}" for v in sorted(_known(values))))
    return " to ".join(dict.fromkeys((found[0], found[-1]))) if found else "-"


HEAD = (
    "| problem | method | accounts | anchors | share | estimated |"
    + "".join(f" at {target / 100:g}: matches | precision | recall | oracle's |" for target in TARGETS)
    + " ECE | of all |\n"
)


def table(groups: Sequence[Group]) -> str:
    """Every problem, with the least and the most over all runs."""
    lines = []
    for own in groups:
        cells = [own["problem"], own["method"], " + ".join(f"{n:,}" for n in own["accounts"])]
        cells.append(f"{own['anchors']:,}, {own['drawn']}")
        # The run with its sides exchanged is about the accounts of the other network.
        cells += [_range(own[key][:-1]) for key in ("share", "share_estimated")]
        for target in TARGETS:
            cells.append(_range(own[f"matches_{target}"], 0))
            cells += [_range(own[f"{key}_{target}"]) for key in ("precision", "recall", "oracle")]
        cells += [_range(own[key]) for key in ("ece", "ece_all")]
        lines.append("| " + " | ".join(cells) + " |\n")
    return HEAD + "|---" * HEAD.count(" | ") + "|---|\n" + "".join(lines)


def page() -> str:
    """The generated part of the page."""
    kept = json.loads(KEPT.read_text("utf-8"))
    methods = {own["method"]: [one for one in kept if one["method"] == own["method"]] for own in kept}
    found = {method: promises(groups) for method, groups in methods.items()}
    head = f"| promise | {' | '.join(f'`{method}`' for method in methods)} |\n|---{'|---' * len(methods)}|\n"
    sizes = [("problems, runs", [f"{len(own)}, {sum(len(one['seed']) for one in own)}" for own in methods.values()])]
    sizes.append(("measured on", [f"{own[0]['date']}, {own[0]['commit']}" for own in methods.values()]))
    rows = [
        (words, [figures[place][1] for figures in found.values()])
        for place, (words, _) in enumerate(next(iter(found.values())))
    ]
    lines = "".join(f"| {words} | {' | '.join(figures)} |\n" for words, figures in (*sizes, *rows))
    return head + lines + "\n" + answers() + "\n" + table(kept)


def answers() -> str:
    """What answers of a reviewer did, by problem and in the mean."""
    kept = json.loads(ANSWERS.read_text("utf-8"))
    steps = "/".join(map(str, kept["steps"]))
    names = ("right pairs", "matches", "their precision", "right matches of others")
    lines = [
        f"| after {steps} answers ({kept['date']}, {kept['commit']}) | {' | '.join(names)} |\n|---|---|---|---|---|\n"
    ]
    for name, figures in kept["problems"].items():
        cells = ["/".join("-" if v is None else f"{v:g}" for v in column) for column in zip(*figures, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |\n")
    return "".join(lines)


def stamp() -> dict[str, str]:
    """When, and on what."""
    return {"date": datetime.now(UTC).date().isoformat(), "commit": newest_of_main()}


def keep(file: Path) -> None:
    """Keep the runs of a file of rows."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for text in file.read_text("utf-8").splitlines():
        row = json.loads(text)
        runs[row["problem"], row["method"]].append(row)
    fresh = [group(rows) | stamp() for rows in runs.values()]
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
