"""One round of evidence: the log-odds of all pairs that the believed ones speak to, and each account's best of them.

The left accounts are shared out among threads. A thread meets every pair of its accounts once and offers it to both of
them: left accounts belong to one thread, right ones have a list a thread, joined at the end. The best of a list do not
depend on the order of offers, so threads do not change the result. Where so much is said that it would not fit into
memory, the right side is taken in bands, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.link.beliefs import owners
from kedge.link.evidence_kernels import advance, hear, join, say, unite
from kedge.link.profile import Profile
from kedge.types import FloatArray, Network, Problem

__all__ = ["one_round", "pattern"]

_BAND = 4e7  # numbers said to one band of accounts: 320 MB; each further band meets all left accounts once more
_LISTS = 4e9  # bytes for all threads' lists of the right accounts
_ALONE = 1e6  # less than this is not worth a second thread


def pattern(network: Network) -> csr_array:
    """The adjacency with every weight 1: evidence counts edges."""
    A = network.adjacency
    return csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)


def _arrays(matrix: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """(indptr, indices, data), always of the same types and read-only, so that kernels are compiled once."""
    arrays = (
        matrix.indptr.astype(np.int64, copy=False).view(),
        matrix.indices.astype(np.int32, copy=False).view(),
        matrix.data.astype(np.float64, copy=False).view(),
    )
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _to(wanted: NDArray[np.bool_], network: Network) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(indptr, indices) of the edges to the wanted accounts: nobody need speak to the others."""
    indptr, indices, _ = _arrays(network.adjacency)
    kept = wanted[indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    return ends, indices[kept]


@dataclass(frozen=True)
class _Best:
    """The best candidates of each account as a heap: [n, K] accounts and scores, and how many there are."""

    accounts: NDArray[np.int32]
    scores: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, keep: int) -> _Best:
        return cls(np.empty((n, keep), np.int32), np.empty((n, keep)), np.zeros(n, np.int64))

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """As kernels take them."""
        return self.accounts, self.scores, self.sizes

    def take(self, other: _Best) -> None:
        """The best of both lists, here; which list was first does not matter."""
        join(*self.arrays(), *other.arrays())


def _bands(indptr: NDArray[np.int64], indices: NDArray[np.int32], speakers: NDArray[np.int64]) -> list[int]:
    """Bounds of runs of right accounts that hear at most about `_BAND` numbers together."""
    n = len(indptr) - 1
    times = np.repeat(speakers, np.diff(indptr))
    heard = np.concatenate([[0], np.cumsum(np.bincount(indices, weights=times, minlength=n))])
    count = max(1, int(np.ceil(heard[-1] / _BAND)))
    inner = np.searchsorted(heard, heard[-1] * np.arange(1, count) / count)
    return sorted({0, *np.clip(inner, 0, n).tolist(), n})


def _shares(work: FloatArray, threads: int) -> list[tuple[int, int]]:
    """Runs of accounts of about equal work, one a thread."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    inner = np.searchsorted(done, done[-1] * np.arange(1, threads) / threads)
    return list(pairwise([0, *np.clip(inner, 0, len(work)).tolist(), len(work)]))


def _at_once(pool: ThreadPoolExecutor, kernel: Callable[..., None], calls: Sequence[tuple[Any, ...]]) -> None:
    """Calls of a kernel, one a thread; a single one in this thread."""
    if len(calls) == 1:
        kernel(*calls[0])
        return
    for call in [pool.submit(kernel, *words) for words in calls]:
        call.result()


def _workers(n: int, keep: int, said: FloatArray, threads: int) -> int:
    """How many threads are worth it, and how many lists of the `n` right accounts fit into memory."""
    if said.sum() <= _ALONE:
        return 1
    # Not numba.get_num_threads(): that starts numba's own threads, and torch would be given as many with them.
    return max(1, min(threads or numba.config.NUMBA_NUM_THREADS, int(_LISTS / max(1, 12 * keep * n))))


def one_round(
    problem: Problem,
    P: csr_array,
    rates: tuple[float, float],
    looks: Profile,
    prior: csr_array,
    keep: int,
    threads: int = 0,
) -> csr_array:
    """L over the `keep` best candidates of each account of either side; threads = 0: as many as numba has."""
    networks = (problem.left, problem.right)
    belief = _arrays(P)
    degrees = [network.degrees.astype(np.float64) for network in networks]
    rho = [np.minimum(P.sum(axis=axis), 1.0) for axis in (1, 0)]
    alone = [
        term + 0.5 * (pattern(network) @ np.log1p(-mass * rate))
        for term, network, mass, rate in zip((looks.left_term, looks.right_term), networks, rho, rates, strict=True)
    ]
    edges = _arrays(networks[0].adjacency)[:2]
    taken = np.zeros(networks[0].n, np.bool_)
    taken[problem.anchors[:, 0]] = True
    free = np.ones(networks[1].n, np.bool_)
    free[problem.anchors[:, 1]] = False
    far_edges = _to(free, networks[1])
    ends = [float(network.adjacency.nnz) for network in networks]
    spoken_to = np.diff(far_edges[0]).astype(np.float64)
    said = np.bincount(owners(P), spoken_to[P.indices], networks[0].n).astype(np.float64)
    threads = _workers(networks[1].n, keep, said, threads)
    speaking, hearing = _shares(said, threads), _shares(pattern(networks[0]) @ said, threads)
    of_left = _Best.empty(networks[0].n, keep)
    of_right = [_Best.empty(networks[1].n, keep) for _ in hearing]
    unreached = np.full(networks[1].n, -np.inf)
    facts = [np.column_stack([unreached, alone[1], looks.right]) for _ in hearing]
    low = far_edges[0][:-1]
    if threads > 1:
        _load_kernels()
    with ThreadPoolExecutor(threads) as pool:
        for first, last in pairwise(_bands(*far_edges, np.bincount(P.indices, minlength=networks[1].n))):
            high = advance(*far_edges, low, last)
            start = np.concatenate([[0], np.cumsum((high - low)[belief[1]])])[belief[0]]
            told = (
                start,
                np.empty(start[-1], np.int32),
                np.empty(start[-1], np.float32),
                np.zeros(len(said), np.int64),
            )
            band = (low, high, far_edges[1], first, last - first)
            _at_once(pool, say, [(*rows, *belief, *band, degrees[1], ends[1], rates[0], *told) for rows in speaking])
            here = (*edges, degrees[0], ends[0], rates[1], *belief, *band, rho[1], *told)
            more = (alone[0], looks.left, taken, free, *_arrays(prior), *of_left.arrays())
            _at_once(
                pool,
                hear,
                [
                    (*rows, *here, *more, *best.arrays(), fact)
                    for rows, best, fact in zip(hearing, of_right, facts, strict=True)
                ],
            )
            low = high
            del told, here  # or the next band's would stand beside them
    for other in of_right[1:]:
        of_right[0].take(other)
    return _union(of_left, of_right[0], problem)


def _union(of_left: _Best, of_right: _Best, problem: Problem) -> csr_array:
    """What either side kept, without what is ruled out."""
    shape = (problem.left.n, problem.right.n)
    indptr, indices, data = unite(*of_left.arrays(), *of_right.arrays())
    L = csr_array((data, indices, indptr), shape)
    if len(problem.rejected) == 0:
        return L
    owner = owners(L)
    ruled_out = np.isin(owner * shape[1] + L.indices, problem.rejected[:, 0] * shape[1] + problem.rejected[:, 1])
    kept = ~ruled_out
    return csr_array((L.data[kept], (owner[kept], L.indices[kept])), shape)


@cache
def _load_kernels() -> None:
    """Run every kernel that threads run once in the main thread.

    Kernels import on their first call, and after an interrupt in an import Python may hold its import lock for the main
    thread alone, so that another one would wait for it for ever.
    """
    pair = Network.from_edges([(0, 1)], 2)
    nothing = np.zeros((2, 2))
    looks = Profile(nothing, nothing, nothing[0], nothing[0])
    P = csr_array(([1.0], ([0], [0])), shape=(2, 2))
    one_round(Problem(pair, pair, np.array([[0, 0]])), P, (0.5, 0.5), looks, csr_array((2, 2)), 1, threads=1)
