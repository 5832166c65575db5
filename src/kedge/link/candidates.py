"""Candidates by nearness in the shared space: the k nearest of each account, seen from both sides, by faiss.

Exact up to `EXACT_UP_TO` accounts on a side; beyond, an inverted file (IVF) looks into a share of its cells, and what
it misses is measured against exact search on a sample. Never n × n: at most k (n_1 + n_2) pairs.

Threads search for a block of accounts each, and a block is always the same size: a product of other shape is rounded
otherwise, and evidence may make much of little. So the number of threads does not change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kedge.linalg import unit_rows
from kedge.types import FloatArray, IntArray

__all__ = ["EXACT_UP_TO", "Found", "Nearest", "each_once", "nearest", "nearest_pairs"]

EXACT_UP_TO: Final = 50_000
_SAMPLE = 500  # accounts on which the recall of approximate search is measured
_LOOKED_INTO = 0.1  # share of the cells that one question looks into, and
_MOST_CELLS = 24  # at most so many: the largest networks would otherwise cost ten times the rest
_BLOCK = 1024  # accounts that one thread searches for at a time


@dataclass(frozen=True)
class Nearest:
    """Pairs [m, 2] sorted, each once; `recall` is the share of the exact nearest that were found, 1 if exact.

    `cosines`: of each account, on the left and on the right, those of its nearest, [n, k]; nan where it has none.
    """

    pairs: IntArray
    recall: float
    cosines: tuple[FloatArray, FloatArray]
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

    `left` and `right` are the accounts that pairs are made of; all where they are not given. The others look too, for
    what surrounds them. An account whose vector is 0 stands nowhere: it neither looks nor is found.
    """
    sides = [unit_rows(np.asarray(vectors, np.float32)) for vectors in (X, Y)]
    placed = [np.flatnonzero(vectors.any(axis=1)) for vectors in sides]
    wanted = [
        all_ if some is None else np.intersect1d(all_, some) for all_, some in zip(placed, (left, right), strict=True)
    ]
    cosines = (np.full((len(X), k), np.nan, np.float32), np.full((len(Y), k), np.nan, np.float32))
    found, recalls = [np.empty((0, 2), np.int64)], []
    for near in (0, 1):
        if k < 1 or not len(placed[near]) or not len(wanted[1 - near]):
            continue
        seen = nearest(sides[near][placed[near]], sides[1 - near][wanted[1 - near]], k, exact_up_to)
        known = seen.places >= 0
        cosines[near][placed[near], : known.shape[1]] = np.where(known, seen.cosines, np.nan)
        row, place = np.nonzero(known & np.isin(placed[near], wanted[near])[:, None])
        mine, other = placed[near][row], wanted[1 - near][seen.places[row, place]]
        found.append(np.column_stack([mine, other] if near == 0 else [other, mine]))
        recalls.append(seen.recall)
    exact = max(len(accounts) for accounts in wanted) <= exact_up_to
    recall = float(np.mean(recalls)) if recalls else 1.0
    return Nearest(each_once(np.concatenate(found)), recall, cosines, exact)


def each_once(pairs: IntArray) -> IntArray:
    """The pairs sorted, each once; by one number a pair, which takes a tenth of what whole rows take."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    numbers = np.sort(pairs[:, 0] * np.int64(width) + pairs[:, 1])
    new = np.diff(numbers, prepend=-1) > 0  # accounts are numbered from 0
    return np.column_stack(np.divmod(numbers[new], width))


@dataclass(frozen=True)
class Found:
    """The nearest of each asking account, nearest first: rows [m, k] of those asked, -1 where fewer were found, and
    their cosines; `recall` as in `Nearest`."""

    places: IntArray
    cosines: FloatArray
    recall: float


def nearest(asking: FloatArray, asked: FloatArray, k: int, exact_up_to: int = EXACT_UP_TO) -> Found:
    """The k nearest of each, or all where there are fewer; vectors of length 1 or 0."""
    import faiss

    asking, asked = (np.ascontiguousarray(vectors, np.float32) for vectors in (asking, asked))
    k = min(k, len(asked))
    exact: Any = faiss.IndexFlatIP(asked.shape[1])
    exact.add(asked)
    if len(asked) <= exact_up_to:
        return Found(*_search(exact, asking, k), 1.0)
    index = _cells(asked)
    places, cosines = _search(index, asking, k)
    sample = np.linspace(0, len(asking) - 1, min(_SAMPLE, len(asking))).astype(np.int64)
    truth, _ = _search(exact, asking[sample], k)
    hits = sum(len(np.intersect1d(mine, true)) for mine, true in zip(places[sample], truth, strict=True))
    return Found(places, cosines, hits / truth.size)


def _cells(asked: FloatArray) -> Any:
    """An inverted file of the vectors, made by one thread."""
    import faiss

    cells = max(int(np.sqrt(len(asked))), 1)
    width = asked.shape[1]
    index: Any = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1
    index.nprobe = min(max(round(_LOOKED_INTO * cells), 1), _MOST_CELLS)
    # In a thread of its own: how many threads faiss may start is known to the thread that asks.
    with ThreadPoolExecutor(1, initializer=faiss.omp_set_num_threads, initargs=(1,)) as alone:
        alone.submit(index.train, asked).result()
        alone.submit(index.add, asked).result()
    return index


def _search(index: Any, asking: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """The places and cosines of the k nearest of each, [m, k]."""
    import faiss
    import numba

    blocks = [asking[start : start + _BLOCK] for start in range(0, len(asking), _BLOCK)]
    # As many as evidence has: faiss's own number is 1 wherever BLAS is held to one thread.
    threads = max(1, min(numba.config.NUMBA_NUM_THREADS, len(blocks)))
    with ThreadPoolExecutor(threads, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        found = list(pool.map(lambda block: index.search(block, k), blocks))
    nobody = (np.empty((0, k), np.float32), np.empty((0, k), np.int64))
    cosines, places = (np.concatenate(parts) for parts in zip(nobody, *found, strict=True))
    return places, cosines
