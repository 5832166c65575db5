"""The research pairs of networks, read with their splits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kedge.types import IntArray, Network, Problem

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "pairs"


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()]


def load(name: str, split: str | None = None) -> tuple[str, Problem, IntArray]:
    """The split (off20 or r20_s0 unless named), the problem with its training anchors, and the test pairs."""
    folder = ROOT / name
    if split is None:
        split = "off20" if (folder / "splits" / "off20").is_dir() else "r20_s0"
    anchors = rows(folder / "anchors.tsv")
    networks, places = [], []
    for side, file in enumerate(("left.tsv", "right.tsv")):
        edges = rows(folder / file)
        ids = sorted({name for edge in edges for name in edge} | {pair[side] for pair in anchors})
        place = {name: i for i, name in enumerate(ids)}
        networks.append(Network.from_edges([[place[a], place[b]] for a, b in edges], len(ids), ids))
        places.append(place)
    train, test = (
        np.array([[places[0][a], places[1][b]] for a, b in rows(folder / "splits" / split / f"{part}.tsv")])
        for part in ("train", "test")
    )
    return split, Problem(networks[0], networks[1], train), test
