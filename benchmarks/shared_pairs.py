"""The research pairs of networks, read with their splits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.link.assign import assign
from kedge.types import IntArray, Network, Problem

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "pairs"


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()]


def load(name: str, split: str | None = None) -> tuple[str, Problem, IntArray]:
    """The split (off20 or r20_s0 unless named), the problem with its training anchors, and the test pairs.

    Accounts get random numbers: between equals numbers may decide, and the order of files knows too much of partners.
    """
    folder = ROOT / name
    if split is None:
        split = "off20" if (folder / "splits" / "off20").is_dir() else "r20_s0"
    anchors = rows(folder / "anchors.tsv")
    networks, places = [], []
    for side, file in enumerate(("left.tsv", "right.tsv")):
        edges = rows(folder / file)
        ids = sorted({name for edge in edges for name in edge} | {pair[side] for pair in anchors})
        ids = [ids[i] for i in np.random.default_rng(side).permutation(len(ids))]
        place = {name: i for i, name in enumerate(ids)}
        networks.append(Network.from_edges([[place[a], place[b]] for a, b in edges], len(ids), ids))
        places.append(place)
    train, test = (
        np.array([[places[0][a], places[1][b]] for a, b in rows(folder / "splits" / split / f"{part}.tsv")])
        for part in ("train", "test")
    )
    return split, Problem(networks[0], networks[1], train), test


def match_greedily(alignment: SparseAlignment) -> dict[int, int]:
    """Partners one to one, the best scores first."""
    scores = alignment.scores
    above_zero = scores.data - scores.data.min(initial=0) + 1
    return dict(assign(csr_array((above_zero, scores.indices, scores.indptr), scores.shape), "greedy").tolist())
