"""NetworkX graphs and the estimator: `python match_graphs.py DATA`, with the files of `kedge demo --files DATA`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import networkx as nx

import kedge


def main(data: Path) -> None:
    """Fit a linker on two graphs, then ask it for the partners of three accounts."""
    left, right = (nx.from_edgelist(_pairs(data / f"{side}.csv")) for side in ("left", "right"))
    linker = kedge.Linker(seed=0).fit((left, right), dict(_pairs(data / "known.csv")))
    asked = [account for account, _ in _pairs(data / "held-out.csv")][:3]
    for account, partner in zip(asked, linker.predict(asked), strict=True):
        print(f"{account}: {partner or 'no counterpart known'}")


def _pairs(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return [(row[0], row[1]) for row in rows[1:]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
