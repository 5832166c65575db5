"""Candidates by vector similarity: the k nearest accounts of each account by cosine, from both sides, by faiss.

Exact up to `EXACT_UP_TO` accounts on a side; beyond, an inverted file (IVF) searches a share of its cells, and its
recall is measured against exact search on a sample. Never n × n: at most k (n_1 + n_2) pairs.

Each thread searches for one block of accounts at a time, and blocks have one size: a product of another shape is
rounded differently, and evidence can amplify small differences. So the number of threads does not change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kedge.linalg import VectorAlignment, unit_rows
from kedge.types import FloatArray, IntArray, Problem, pair_keys

EXACT_UP_TO: Final = 50_000  # accounts on a side; unmeasured
_SAMPLE = 500  # accounts on which the recall of approximate search is measured
_SEARCHED = 0.1  # share of the cells that one query searches, and
_MOST_CELLS = 24  # at most so many: the largest networks would otherwise cost ten times the rest (docs/decisions/0021)
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


def free_candidates(
    problem: Problem, vectors: VectorAlignment, nearest: int, exact_up_to: int = EXACT_UP_TO
) -> Nearest:
    """The `nearest` of each free account among the free ones: an anchored account is no other account's candidate."""
    sides = ((problem.left.n, problem.anchors[:, 0]), (problem.right.n, problem.anchors[:, 1]))
    left, right = (np.setdiff1d(np.arange(size), anchored) for size, anchored in sides)
    return nearest_pairs(vectors.left, vectors.right, nearest, (left, right), exact_up_to)


def nearest_pairs(
    X: FloatArray,
    Y: FloatArray,
    k: int,
    among: tuple[IntArray, IntArray] | None = None,
    exact_up_to: int = EXACT_UP_TO,
) -> Nearest:
    """The k nearest by cosine of each left account among the right ones, and of each right one among the left.

    Pairs consist of the left and right accounts `among`, or of all; the others have `cosines` too. An account whose
    vector is 0 is in no pair and has no cosines.
    """
    sides = [unit_rows(np.asarray(vectors, np.float32)) for vectors in (X, Y)]
    placed = [np.flatnonzero(vectors.any(axis=1)) for vectors in sides]
    wanted = placed if among is None else [np.intersect1d(*both) for both in zip(placed, among, strict=True)]
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
    """The pairs sorted, each once; by one number per pair, which takes a tenth of the time that whole rows take."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    numbers = np.sort(pair_keys(pairs[:, 0], pairs[:, 1], width))
    new = np.diff(numbers, prepend=-1) > 0  # accounts are numbered from 0
    return np.column_stack(np.divmod(numbers[new], width))


@dataclass(frozen=True)
class Found:
    """The nearest of each query, nearest first: places [m, k] among the searched vectors, -1 where fewer were found,
    and their cosines; `recall` as in `Nearest`."""

    places: IntArray
    cosines: FloatArray
    recall: float


def nearest(queries: FloatArray, searched: FloatArray, k: int, exact_up_to: int = EXACT_UP_TO) -> Found:
    """The k nearest of each query, or all where there are fewer; vectors of length 1 or 0."""
    import faiss

    queries, searched = (np.ascontiguousarray(vectors, np.float32) for vectors in (queries, searched))
    k = min(k, len(searched))
    exact: Any = faiss.IndexFlatIP(searched.shape[1])
    exact.add(searched)
    if len(searched) <= exact_up_to:
        return Found(*_search(exact, queries, k), 1.0)
    places, cosines = _search(_inverted_file(searched), queries, k)
    sample = np.linspace(0, len(queries) - 1, min(_SAMPLE, len(queries))).astype(np.int64)
    truth, _ = _search(exact, queries[sample], k)
    hits = sum(len(np.intersect1d(mine, true)) for mine, true in zip(places[sample], truth, strict=True))
    return Found(places, cosines, hits / truth.size)


def _inverted_file(searched: FloatArray) -> Any:
    """An inverted file of the vectors, made by one thread."""
    import faiss

    cells = max(int(np.sqrt(len(searched))), 1)
    width = searched.shape[1]
    index: Any = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1
    index.nprobe = min(max(round(_SEARCHED * cells), 1), _MOST_CELLS)
    # In a thread of its own: how many threads faiss may start is a property of the calling thread.
    with ThreadPoolExecutor(1, initializer=faiss.omp_set_num_threads, initargs=(1,)) as alone:
        alone.submit(index.train, searched).result()
        alone.submit(index.add, searched).result()
    return index


def _search(index: Any, queries: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """The places and cosines of the k nearest of each query, [m, k]."""
    import faiss
    import numba

    blocks = [queries[start : start + _BLOCK] for start in range(0, len(queries), _BLOCK)]
    # As many as evidence has: faiss's own number is 1 wherever BLAS is held to one thread.
    threads = max(1, min(numba.config.NUMBA_NUM_THREADS, len(blocks)))
    with ThreadPoolExecutor(threads, initializer=faiss.omp_set_num_threads, initargs=(1,)) as pool:
        found = list(pool.map(lambda block: index.search(block, k), blocks))
    none = (np.empty((0, k), np.float32), np.empty((0, k), np.int64))
    cosines, places = (np.concatenate(parts) for parts in zip(none, *found, strict=True))
    return places, cosines
