"""One round of evidence: the log-odds of all pairs that the believed ones are evidence for, and each account's best.

The left accounts are shared out among threads. A thread meets every pair of its accounts once and offers it to both of
them: left accounts belong to one thread, right ones have one list per thread, joined at the end. The best of a list do
not depend on the order of offers, so threads do not change the result. Where messages would not fit into memory, the
right side is taken in bands, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.evidence.kernels import (
    Band,
    BestLists,
    Entries,
    Inputs,
    LeftSide,
    Lists,
    Messages,
    RightSide,
    advance,
    join,
    score_candidates,
    send_messages,
    unite,
)
from kedge.evidence.model import DegreePrior
from kedge.linalg import pattern, row_index
from kedge.types import BoolArray, FloatArray, IntArray, Network, Problem

_BAND = 4e7  # messages to one band of accounts: 320 MB; each further band meets all left accounts once more
_LISTS = 4e9  # bytes for all threads' lists of the right accounts
_ALONE = 1e6  # fewer messages are not worth a second thread


class Model(NamedTuple):
    """What is the same in all rounds: (s, t), the degree prior, and log-odds of pairs from elsewhere, n_1 × n_2."""

    rates: tuple[float, float]
    degree_prior: DegreePrior
    prior: csr_array


def _entries(matrix: csr_array) -> Entries:
    """The three arrays, always of the same types and read-only, so that kernels are compiled once."""
    arrays = Entries(
        matrix.indptr.astype(np.int64, copy=False).view(),
        matrix.indices.astype(np.int32, copy=False).view(),
        matrix.data.astype(np.float64, copy=False).view(),
    )
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _inputs(problem: Problem, P: csr_array, model: Model) -> tuple[Inputs, FloatArray]:
    """What the kernels read, and the `Lists.facts` of right accounts before any offer."""
    left, right = problem.left, problem.right
    s, t = model.rates
    own = model.degree_prior
    mass = [np.minimum(P.sum(axis=axis), 1.0) for axis in (1, 0)]
    # A neighbour that is matched to no neighbour of the other account: evidence against the pair.
    terms = [
        term + 0.5 * (pattern(network.adjacency) @ np.log1p(-believed * rate))
        for term, network, believed, rate in zip(
            (own.left_term, own.right_term), (left, right), mass, (s, t), strict=True
        )
    ]
    anchored = np.zeros(left.n, np.bool_)
    anchored[problem.anchors[:, 0]] = True
    free = np.ones(right.n, np.bool_)
    free[problem.anchors[:, 1]] = False
    degrees = [network.degrees.astype(np.float64) for network in (left, right)]
    ends = [float(network.adjacency.nnz) for network in (left, right)]
    edges = _entries(left.adjacency)
    inputs = Inputs(
        LeftSide(edges.indptr, edges.indices, degrees[0], ends[0], t, terms[0], own.left, anchored),
        RightSide(degrees[1], ends[1], s, mass[1], free),
        _entries(P),
        _entries(model.prior),
    )
    return inputs, np.column_stack([np.full(right.n, -np.inf), terms[1], own.right])


def _edges_to(wanted: BoolArray, network: Network) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(indptr, indices) of the edges to the wanted accounts: the others need no messages."""
    indptr, indices, _ = _entries(network.adjacency)
    kept = wanted[indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    return ends, indices[kept]


def _bands(indptr: NDArray[np.int64], indices: NDArray[np.int32], senders: IntArray) -> list[int]:
    """Bounds of runs of right accounts that receive at most about `_BAND` messages together; `senders` [n_2] is the
    number of left accounts that believe in each right one."""
    n = len(indptr) - 1
    times = np.repeat(senders, np.diff(indptr))
    received = np.concatenate([[0], np.cumsum(np.bincount(indices, weights=times, minlength=n))])
    count = max(1, int(np.ceil(received[-1] / _BAND)))
    inner = np.searchsorted(received, received[-1] * np.arange(1, count) / count)
    return sorted({0, *np.clip(inner, 0, n).tolist(), n})


def _shares(work: FloatArray, threads: int) -> list[tuple[int, int]]:
    """Runs of accounts of about equal work, one per thread."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    inner = np.searchsorted(done, done[-1] * np.arange(1, threads) / threads)
    return list(pairwise([0, *np.clip(inner, 0, len(work)).tolist(), len(work)]))


def _at_once(pool: ThreadPoolExecutor, kernel: Callable[..., None], calls: Iterable[tuple[Any, ...]]) -> None:
    """Calls of a kernel, one per thread; a single one in this thread."""
    first, *others = calls
    if not others:
        kernel(*first)
        return
    for call in [pool.submit(kernel, *arguments) for arguments in (first, *others)]:
        call.result()


def _workers(n: int, keep: int, sent: FloatArray, threads: int) -> int:
    """How many threads are worth it, and how many lists of the `n` right accounts fit into memory."""
    if sent.sum() <= _ALONE:
        return 1
    # Not numba.get_num_threads(): that starts numba's own threads, and torch would be given as many with them.
    return max(1, min(threads or numba.config.NUMBA_NUM_THREADS, int(_LISTS / max(1, 12 * keep * n))))


def _no_candidates(n: int, keep: int) -> BestLists:
    return BestLists(np.empty((n, keep), np.int32), np.empty((n, keep)), np.zeros(n, np.int64))


def _room_for_messages(beliefs: Entries, band: Band) -> Messages:
    """As many places for each left account as its believed partners have neighbours in the band."""
    start = np.concatenate([[0], np.cumsum((band.high - band.low)[beliefs.indices])])[beliefs.indptr]
    lengths = np.zeros(len(start) - 1, np.int64)
    return Messages(start, np.empty(start[-1], np.int32), np.empty(start[-1], np.float32), lengths)


def one_round(problem: Problem, P: csr_array, model: Model, keep: int, threads: int = 0) -> csr_array:
    """L over the `keep` best candidates of each account of either side; threads = 0: as many as numba has."""
    n_left, n_right = problem.left.n, problem.right.n
    inputs, facts = _inputs(problem, P, model)
    indptr, neighbours = _edges_to(inputs.right.free, problem.right)
    sent = np.bincount(row_index(P), np.diff(indptr).astype(np.float64)[P.indices], n_left).astype(np.float64)
    threads = _workers(n_right, keep, sent, threads)
    senders, receivers = _shares(sent, threads), _shares(pattern(problem.left.adjacency) @ sent, threads)
    of_left = _no_candidates(n_left, keep)
    lists = [Lists(of_left, _no_candidates(n_right, keep), facts.copy()) for _ in receivers]
    if threads > 1:
        _load_kernels()
    low = indptr[:-1]
    with ThreadPoolExecutor(threads) as pool:
        for first, last in pairwise(_bands(indptr, neighbours, np.bincount(P.indices, minlength=n_right))):
            high = advance(indptr, neighbours, low, last)
            band = Band(first, last - first, low, high, neighbours)
            messages = _room_for_messages(inputs.beliefs, band)
            _at_once(pool, send_messages, ((rows, inputs, band, messages) for rows in senders))
            scoring = zip(receivers, lists, strict=True)
            _at_once(pool, score_candidates, ((rows, inputs, band, messages, own) for rows, own in scoring))
            low = high
            del messages  # or those of the next band would need memory at the same time
    for other in lists[1:]:
        join(lists[0].of_right, other.of_right)
    return _union(of_left, lists[0].of_right, problem)


def _union(of_left: BestLists, of_right: BestLists, problem: Problem) -> csr_array:
    """The candidates of either side, without rejected pairs."""
    indptr, indices, data = unite(of_left, of_right)
    L = csr_array((data, indices, indptr), (problem.left.n, problem.right.n))
    if len(problem.rejected) == 0:
        return L
    pairs = np.column_stack([row_index(L), L.indices])
    kept = ~problem.is_rejected(pairs)
    return csr_array((L.data[kept], tuple(pairs[kept].T)), L.shape)


@cache
def _load_kernels() -> None:
    """Run every kernel that threads run once in the main thread.

    Kernels import on their first call, and after an interrupt in an import Python may hold its import lock for the main
    thread alone, so that another one would wait for it for ever.
    """
    pair = Network.from_edges([(0, 1)], 2)
    nothing = np.zeros((2, 2))
    model = Model((0.5, 0.5), DegreePrior(nothing, nothing, nothing[0], nothing[0]), csr_array((2, 2)))
    P = csr_array(([1.0], ([0], [0])), shape=(2, 2))
    one_round(Problem(pair, pair, np.array([[0, 0]])), P, model, 1, threads=1)
