"""One round of evidence: the log-odds of all pairs that the believed ones speak to, and each account's best of them.

The right side is cut into bands of accounts and the bands are shared out among threads. A thread meets every pair of
its bands once and offers it to both accounts: right accounts belong to one band, left ones have a list a thread, joined
at the end. The best of a list do not depend on the order of offers, so neither bands nor threads change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.link.evidence_kernels import advance, hear, join, say
from kedge.link.profile import Profile
from kedge.types import FloatArray, IntArray, Network, Problem

__all__ = ["one_round", "pattern"]

_BAND = 3e6  # numbers said to one band of accounts: 24 MB, near the size of a cache
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

    accounts: NDArray[np.int64]
    scores: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, keep: int) -> _Best:
        return cls(np.full((n, keep), -1, np.int64), np.empty((n, keep)), np.zeros(n, np.int64))

    def entries(self) -> tuple[IntArray, IntArray, FloatArray]:
        """(account, candidate, score) of all that were kept."""
        row, place = np.nonzero(self.accounts >= 0)
        return row, self.accounts[row, place], self.scores[row, place]

    def take(self, other: _Best) -> None:
        """The best of both lists, here; which list was first does not matter."""
        join(self.accounts, self.scores, self.sizes, other.accounts, other.scores, other.sizes)


def _cuts(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], believed: NDArray[np.int32], threads: int
) -> list[list[int]]:
    """For each thread the bounds of its bands: runs of accounts that hear about `_BAND` numbers together."""
    n = len(indptr) - 1
    speakers = np.repeat(np.bincount(believed, minlength=n), np.diff(indptr))
    heard = np.concatenate([[0], np.cumsum(np.bincount(indices, weights=speakers, minlength=n))])
    threads = threads if heard[-1] > _ALONE else 1
    each = max(1, int(np.ceil(heard[-1] / _BAND / threads)))
    inner = np.searchsorted(heard, heard[-1] * np.arange(1, threads * each) / (threads * each))
    bounds = [0, *np.clip(inner, 0, n).tolist(), n]
    return [bounds[t * each : (t + 1) * each + 1] for t in range(threads)]


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
    of_right = _Best.empty(networks[1].n, keep)

    def listen(bounds: list[int]) -> _Best:
        of_left = _Best.empty(networks[0].n, keep)
        low = advance(*far_edges, far_edges[0][:-1], bounds[0])
        for first, last in pairwise(bounds):
            high = advance(*far_edges, low, last)
            start = np.concatenate([[0], np.cumsum((high - low)[belief[1]])])[belief[0]]
            columns = np.empty(start[-1], np.int32)
            values = np.empty(start[-1], np.float32)
            lengths = np.zeros(networks[0].n, np.int64)
            band = (low, high, far_edges[1], first, last - first)
            say(
                *belief, *band, degrees[1], ends[1], rates[0], start, columns, values, lengths,
            )  # fmt: skip
            hear(
                *edges, degrees[0], ends[0], rates[1], *belief, *band, rho[1],
                start, columns, values, lengths, alone[0], alone[1], looks.left, looks.right,
                taken, free, *_arrays(prior),
                of_left.accounts, of_left.scores, of_left.sizes,
                of_right.accounts, of_right.scores, of_right.sizes,
            )  # fmt: skip
            low = high
        return of_left

    # Not numba.get_num_threads(): that starts numba's own threads, and torch would be given as many with them.
    shares = _cuts(*far_edges, belief[1], threads or numba.config.NUMBA_NUM_THREADS)
    if len(shares) == 1:
        of_left = listen(shares[0])
    else:
        _load_kernels()
        with ThreadPoolExecutor(len(shares)) as pool:
            of_left, *others = pool.map(listen, shares)
        for other in others:
            of_left.take(other)
    return _union(of_left, of_right, problem)


def _union(of_left: _Best, of_right: _Best, problem: Problem) -> csr_array:
    """What either side kept, without what is ruled out."""
    (u, v, score), (other_v, other_u, other_score) = of_left.entries(), of_right.entries()
    # int32 as scipy wants them: at a million accounts a copy of these is a gigabyte.
    rows = np.concatenate([u, other_u], dtype=np.int32, casting="unsafe")
    columns = np.concatenate([v, other_v], dtype=np.int32, casting="unsafe")
    values = np.concatenate([score, other_score])
    del u, v, score, other_u, other_v, other_score
    shape = (problem.left.n, problem.right.n)
    # A pair that both sides kept has the same score twice, and half of their sum is that score.
    L, times = (
        csr_array((values, (rows, columns)), shape),
        csr_array((np.ones(len(values), np.int8), (rows, columns)), shape),
    )
    L.data /= times.data
    if len(problem.rejected) == 0:
        return L
    owner = np.repeat(np.arange(shape[0], dtype=np.int64), np.diff(L.indptr))
    ruled_out = np.isin(owner * shape[1] + L.indices, problem.rejected[:, 0] * shape[1] + problem.rejected[:, 1])
    kept = ~ruled_out
    return csr_array((L.data[kept], (owner[kept], L.indices[kept])), shape)


@cache
def _load_kernels() -> None:
    """Run every kernel once in the main thread.

    Kernels import on their first call, and after an interrupt in an import Python may hold its import lock for the main
    thread alone, so that another one would wait for it for ever.
    """
    pair = Network.from_edges([(0, 1)], 2)
    nothing = np.zeros((2, 2))
    looks = Profile(nothing, nothing, nothing[0], nothing[0])
    P = csr_array(([1.0], ([0], [0])), shape=(2, 2))
    one_round(Problem(pair, pair, np.array([[0, 0]])), P, (0.5, 0.5), looks, csr_array((2, 2)), 1, threads=1)
