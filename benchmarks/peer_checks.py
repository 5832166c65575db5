"""The newer methods of the literature beside what is public of each, on the shared pairs; the table of docs/methods.md.

    python benchmarks/peer_checks.py [--data ../shared/data] [--pairs cora,douban] [--methods joena] [--limit 3000]

Each cell is one run of `baselines.py` in a fresh process (split off20, else r20_s0; all accounts as candidates, ties at
their average rank, means over both directions) and is kept in docs/results/peer_checks.json as soon as it is there;
cells that are kept already are measured again only if they are asked for by --pairs or --methods. Without data, or
with --table, only the table is made anew from the kept figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from baselines import PEERS, peer_of
from measuring import answer_within
from promises import stamp

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "results" / "peer_checks.json"
PAGE = ROOT / "docs" / "methods.md"
BEGIN, END = "<!-- from docs/results/peer_checks.json -->\n", "<!-- end of peer_checks.json -->\n"

PAIRS = ("arenas95", "phone-email", "cora", "douban", "foursquare-twitter")
# What is public of each, or why nothing on these pairs is.
PUBLIC = {
    "joena": "public code and rewrites of it, on the same splits (`peers.json`)",
    "irma": "none on these pairs: the paper has other networks and F1 of a matching; its claim is to be above the "
    "percolation that it begins with, whose figure stands here",
    "nextalign": "none by this protocol: the authors count the better direction of the best epoch by the test pairs",
    "galign": "none on these splits: the paper has networks with attributes, unsupervised",
    "cosnet": "none: the paper's networks have names and contents, and are not public",
    "bass": "none: the paper's networks have names and contents",
}
BESIDE = {"irma": "percolation"}  # the method whose public figure is shown


def key(row: dict[str, Any]) -> tuple[str, str]:
    return row["method"], row["pair"]


def load() -> list[dict[str, Any]]:
    return json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else []


def keep(row: dict[str, Any]) -> None:
    """One cell, in the order of methods and pairs."""
    whole = {key(own): own for own in [*load(), row]}
    order = [whole[method, pair] for method in PUBLIC for pair in PAIRS if (method, pair) in whole]
    KEPT.write_text("[\n" + ",\n".join(json.dumps(own) for own in order) + "\n]\n", "utf-8")


def measure(data: Path, pair: str, method: str, limit: int) -> dict[str, Any] | str:
    """One cell with its public figures, or why there is none."""
    split = "off20" if (data / "pairs" / pair / "splits" / "off20").is_dir() else "r20_s0"
    command = [sys.executable, str(ROOT / "benchmarks" / "baselines.py"), "--data", str(data)]
    found = answer_within(limit, *command, "--one", pair, split, method)
    if isinstance(found, str):
        return found
    beside = BESIDE.get(method, method)
    public = peer_of(data, pair, split, beside) if beside in PEERS else {}
    figures = {name: round(value, 4) for name, value in found.items()}
    named = {f"public_{name}": public.get(name) for name in ("hits1", "mrr", "cpu")}
    return {"method": method, "pair": pair, "split": split, **figures, **named, **stamp()}


def _cell(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def table() -> str:
    """The table, and what is public of each method."""
    names = (
        "method",
        "pair",
        "Hits@1",
        "Hits@10",
        "MRR",
        "CPU s",
        "public Hits@1",
        "public MRR",
        "public CPU s",
        "measured",
    )
    lines = [f"| {' | '.join(names)} |", "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    for own in load():
        cells = [f"`{own['method']}`", own["pair"], *(_cell(own[name]) for name in ("hits1", "hits10", "mrr"))]
        cells += [_cell(own["cpu"], 1), *(_cell(own[f"public_{name}"]) for name in ("hits1", "mrr"))]
        cells += [_cell(own["public_cpu"], 1), f"{own['date']}, {own['commit']}"]
        lines.append(f"| {' | '.join(cells)} |")
    public = [f"- `{method}`: {words}." for method, words in PUBLIC.items()]
    return "\n".join([*lines, "", "What is public of each:", "", *public]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pairs", default="")
    parser.add_argument("--methods", default="")
    parser.add_argument("--limit", type=int, default=3000, help="CPU seconds of one cell")
    parser.add_argument("--table", action="store_true", help="only the table, from the kept figures")
    asked = parser.parse_args()
    again = bool(asked.pairs or asked.methods)
    pairs = asked.pairs.split(",") if asked.pairs else PAIRS
    methods = asked.methods.split(",") if asked.methods else PUBLIC
    cells = [(method, pair) for pair in pairs for method in methods]
    if asked.table or not asked.data.exists():
        cells = []
    kept = {key(own) for own in load()}
    for method, pair in cells:
        if not again and (method, pair) in kept:
            continue
        row = measure(asked.data, pair, method, asked.limit)
        print(f"{pair} {method}: {row}", flush=True)
        if not isinstance(row, str):
            keep(row)
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
