"""The tables of docs/profiles.md, from the figures kept in docs/results/profiles.json.

    python benchmarks/profiles_tables.py [bench-out/profiles.jsonl]

With a file that `benchmarks/profiles.py --keep` has written its rows are kept, in the place of earlier ones of the same
cell.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from reliability import ROOT, newest_of_main

KEPT = ROOT / "docs" / "results" / "profiles.json"
PAGE = ROOT / "docs" / "profiles.md"
BEGIN, END = "<!-- begin: made by benchmarks/profiles_tables.py -->\n", "<!-- end -->\n"
CELL = ("table", "pair", "share", "from")  # what a row is of; a later one with the same is in its place
SLACK = 0.002  # by which one ranking may be below another and count as equal: two or three test pairs
Row = dict[str, Any]


def number(value: float | None, digits: int = 3) -> str:
    return "none" if value is None else f"{value:,.{digits}f}"


def named(row: Row) -> str:
    """The pair, marked where its figures are of earlier code."""
    return str(row["pair"]) + (" °" if row.get("earlier") else "")


def both_of(row: Row, *keys: str) -> str:
    return ", ".join(number(row[key]) for key in keys)


def decided(row: Row) -> str:
    """Precision and recall of matches; a dash where they were not measured."""
    if "match_precision" not in row:
        return "–"
    return "no match" if row["match_precision"] is None else both_of(row, "match_precision", "match_recall")


def table(head: str, lines: list[str]) -> str:
    return f"{head}\n|{'---|' * (head.count('|') - 1)}\n" + "".join(f"{line}\n" for line in lines)


def accuracy(rows: list[Row]) -> str:
    """Structure, profiles and both; in bold where both rank worse than the better of the two alone. ° has figures of
    earlier code."""
    cells: dict[tuple[str, float], dict[str, Row]] = {}
    for row in rows:
        cells.setdefault((row["pair"], row["share"]), {})[row["from"]] = row
    lines = []
    for (pair, share), arms in sorted(cells.items()):
        if set(arms) != {"structure", "profiles", "both"}:
            continue
        one, other, both = arms["structure"], arms["profiles"], arms["both"]
        worse = any(both[key] < max(one[key], other[key]) - SLACK for key in ("hits1", "mrr"))
        mark = "**" if worse else ""
        pair += " °" if any(row.get("earlier") for row in arms.values()) else ""
        lines.append(
            f"| {pair} | {both['anchors']:,} ({share:g} %) | {both_of(one, 'hits1', 'mrr')} | {decided(one)} "
            f"| {both_of(other, 'hits1', 'mrr')} | {decided(other)} | {mark}{both_of(both, 'hits1', 'mrr')}{mark} "
            f"| {decided(both)} | {one['seconds']:.0f}, {both['seconds']:.0f} |"
        )
    head = (
        "| pair | anchors | structure: Hits@1, MRR | precision, recall | profiles: Hits@1, MRR | precision, recall "
        "| both: Hits@1, MRR | precision, recall | CPU s: structure, both |"
    )
    return table(head, lines)


def without_anchors(rows: list[Row]) -> str:
    head = "| pair | true pairs | starts from | expected right, right | Hits@1, MRR | precision, recall | CPU s |"
    return table(
        head,
        [
            f"| {named(row)} | {row['anchors']:,} | {row['starts']:,} | {both_of(row, 'expected', 'right')} "
            f"| {both_of(row, 'hits1', 'mrr')} | {decided(row)} | {row['seconds']:.0f} |"
            for row in sorted(rows, key=lambda row: row["pair"])
        ],
    )


def literature(rows: list[Row]) -> str:
    peers = {"douban": "JOENA 0.839, PARROT 0.730 (MRR)", "acm-dblp": "PARROT 0.821 (MRR)"}
    head = "| pair, split of the literature (20 %) | Hits@1 | MRR | best peers with attributes, at about 30 % |"
    return table(
        head,
        [f"| {named(row)} | {number(row['hits1'])} | {number(row['mrr'])} | {peers[row['pair']]} |" for row in rows],
    )


def splink(rows: list[Row]) -> str:
    head = "| planted people | by | Hits@1 | MRR | CPU s |"
    lines = [
        f"| {row['pair']} | {row['from']} | {number(row['hits1'])} | {number(row['mrr'])} | {row['seconds']:.1f} |"
        for row in rows
    ]
    return table(head, lines)


def growth(rows: list[Row]) -> str:
    head = "| accounts per side | candidates | CPU s: comparison, with weights | peak MB, before |"
    return table(
        head,
        [
            f"| {row['share']:,.0f} | {row['candidates']:,} | {row['compared']:.1f}, {row['seconds']:.1f} "
            f"| {row['peak']:,.0f}, {row['before']:,.0f} |"
            for row in sorted(rows, key=lambda row: row["share"])
        ],
    )


TABLES = {
    "accuracy": accuracy,
    "literature": literature,
    "none": without_anchors,
    "splink": splink,
    "growth": growth,
}


def replaced(page: str) -> str:
    """The page with each table that has figures made anew; `<!-- begin: ... NAME -->` is where one begins."""
    kept = json.loads(KEPT.read_text("utf-8"))
    for name, make in TABLES.items():
        begin = BEGIN.replace(" -->", f" {name} -->")
        if begin in page:
            before, rest = page.split(begin)
            own = [row for row in kept["rows"] if row["table"] == name]
            page = before + begin + "\n" + make(own) + "\n" + END + rest.split(END, 1)[1]
    return page


def keep(file: Path) -> None:
    """Keep the rows of a file; of the first table whole cells alone, so that none mixes two states of the code."""
    new = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    arms = {(row["table"], row["pair"], row["share"]): set[str]() for row in new}
    for row in new:
        arms[row["table"], row["pair"], row["share"]].add(row["from"])
    whole = {key for key, found in arms.items() if key[0] != "accuracy" or len(found) == 3}
    new = [row for row in new if (row["table"], row["pair"], row["share"]) in whole]
    rows = json.loads(KEPT.read_text("utf-8"))["rows"] if KEPT.exists() else []
    found = {tuple(row[key] for key in CELL): row for row in rows}
    found |= {tuple(row[key] for key in CELL): row for row in new}
    known = {"commit": newest_of_main(), "rows": list(found.values())}
    KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    asked = parser.parse_args()
    if asked.file is not None:
        keep(asked.file)
    PAGE.write_text(replaced(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
