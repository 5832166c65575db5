"""The nearest vectors by cosine, by faiss.

Exact up to `EXACT_UP_TO` vectors; beyond, an inverted file (IVF) searches a share of its cells, and its recall is
measured against exact search on a sample.

Each thread searches for one block of vectors at a time, and blocks have one size: a product of another shape is
rounded differently, and evidence can amplify small differences. So the number of threads does not change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kedge.types import FloatArray, IntArray

EXACT_UP_TO: Final = 50_000  # accounts on a side; unmeasured
_SAMPLE = 500  # accounts on which the recall of approximate search is measured
_SEARCHED = 0.1  # share of the cells that one query searches, and
_MOST_CELLS = 24  # at most so many: the largest networks would otherwise cost ten times the rest (docs/decisions/0021)
_BLOCK = 1024  # accounts that one thread searches for at a time


@dataclass(frozen=True)
class Found:
    """The nearest of each query, nearest first: places [m, k] among the searched vectors, -1 where fewer were found,
    and their cosines; `recall` is the share of the exact nearest that were found, 1 if exact."""

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
