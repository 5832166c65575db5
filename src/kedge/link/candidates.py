"""Candidates by nearness in the shared space: the k nearest of each account, seen from both sides, by faiss.

Exact up to `EXACT_UP_TO` accounts on a side; beyond, an inverted file (IVF) looks into a share of its cells, and what
it misses is measured against exact search on a sample. Never n × n: at most k (n_1 + n_2) pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kedge.linalg import unit_rows
from kedge.types import FloatArray, IntArray

__all__ = ["EXACT_UP_TO", "Nearest", "nearest_pairs"]

EXACT_UP_TO: Final = 50_000
_SAMPLE = 500  # accounts on which the recall of approximate search is measured
_LOOKED_INTO = 0.1  # share of the cells that one question looks into


@dataclass(frozen=True)
class Nearest:
    """Pairs [m, 2] sorted, each once; `recall` is the share of the exact nearest that were found, 1 if exact."""

    pairs: IntArray
    recall: float
    exact: bool = True


def nearest_pairs(
    X: FloatArray,
    Y: FloatArray,
    k: int,
    left: IntArray | None = None,
    right: IntArray | None = None,
    exact_up_to: int = EXACT_UP_TO,
) -> Nearest:
    """The k nearest by cosine of each left account among the right ones, and of each right one among the left.

    `left` and `right` are the accounts that look and may be found; all where they are not given. An account whose
    vector is 0 stands nowhere: it neither looks nor is found.
    """
    sides = [unit_rows(np.ascontiguousarray(vectors, np.float32)) for vectors in (X, Y)]
    chosen = []
    for vectors, accounts in zip(sides, (left, right), strict=True):
        wanted = np.arange(len(vectors)) if accounts is None else np.asarray(accounts, np.int64)
        chosen.append(wanted[vectors[wanted].any(axis=1)])
    if k < 1 or not len(chosen[0]) or not len(chosen[1]):
        return Nearest(np.empty((0, 2), np.int64), 1.0)
    found, recalls = [], []
    for near in (0, 1):
        asking, asked = sides[near][chosen[near]], sides[1 - near][chosen[1 - near]]
        places, recall = _search(asking, asked, min(k, len(asked)), exact_up_to)
        row, place = np.nonzero(places >= 0)
        mine, other = chosen[near][row], chosen[1 - near][places[row, place]]
        found.append(np.column_stack([mine, other] if near == 0 else [other, mine]))
        recalls.append(recall)
    exact = max(len(accounts) for accounts in chosen) <= exact_up_to
    return Nearest(np.unique(np.concatenate(found), axis=0), float(np.mean(recalls)), exact)


def _search(asking: FloatArray, asked: FloatArray, k: int, exact_up_to: int) -> tuple[IntArray, float]:
    """The rows of the k nearest of each, -1 where fewer were found, and the share of the true nearest among them."""
    import faiss

    exact: Any = faiss.IndexFlatIP(asked.shape[1])
    exact.add(asked)
    if len(asked) <= exact_up_to:
        return np.asarray(exact.search(asking, k)[1]), 1.0
    cells = max(int(np.sqrt(len(asked))), 1)
    index: Any = faiss.IndexIVFFlat(exact.__class__(asked.shape[1]), asked.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1
    index.train(asked)
    index.add(asked)
    index.nprobe = max(round(_LOOKED_INTO * cells), 1)
    places = np.asarray(index.search(asking, k)[1])
    sample = np.linspace(0, len(asking) - 1, min(_SAMPLE, len(asking))).astype(np.int64)
    truth = np.asarray(exact.search(asking[sample], k)[1])
    hits = sum(len(np.intersect1d(mine, true)) for mine, true in zip(places[sample], truth, strict=True))
    return places, hits / truth.size
