"""One round of evidence: the log-odds of all pairs that the believed ones are evidence for, and each account's best.

What a round reads is of two kinds: `Fixed`, the same in all rounds, and `Current`, the beliefs of this one.
`score_accounts` scores any left accounts from them and fills lists of best candidates. It is a pure function of what it
reads, so the accounts may be divided into blocks in any way: among threads here, one block after the other where memory
is short, or among the workers of a cluster. Left accounts belong to one block; right ones have one list per block,
joined at the end. The best of a list do not depend on the order of offers, so blocks do not change the result. Where
messages would not fit into memory, the right side is taken in bands, one after the other.
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
    Current,
    Entries,
    Fixed,
    Inputs,
    LeftSide,
    Lists,
    Messages,
    RightSide,
    advance,
    join,
    score_candidates,
    send_messages,
    sum_over_neighbours,
)
from kedge.evidence.model import DegreePrior
from kedge.linalg import row_index
from kedge.types import BoolArray, FloatArray, IntArray, Network, Problem, read_only

MOST_MESSAGES = 4e7  # to one band of accounts: 320 MB; each further band meets all left accounts once more
_LISTS = 4e9  # bytes for all threads' lists of the right accounts
_ALONE = 1e6  # fewer messages are not worth a second thread


class Model(NamedTuple):
    """What is the same in all rounds: (s, t), the degree prior, and log-odds of pairs from elsewhere, n_1 × n_2."""

    rates: tuple[float, float]
    degree_prior: DegreePrior
    prior: csr_array


def read_only_arrays(value: Any) -> Any:
    """The same behind read-only views, wherever it comes from, so that kernels are compiled for one kind of arrays."""
    if isinstance(value, np.ndarray):
        return read_only(value)
    if isinstance(value, tuple):
        return type(value)(*(read_only_arrays(part) for part in value))
    return value


def _edges(network: Network) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    adjacency = network.adjacency
    return (
        read_only(adjacency.indptr.astype(np.int64, copy=False)),
        read_only(adjacency.indices.astype(np.int32, copy=False)),
    )


def entries(matrix: csr_array) -> Entries:
    """The three arrays, always of the same types and read-only, so that kernels are compiled once."""
    return Entries(
        read_only(matrix.indptr.astype(np.int64, copy=False)),
        read_only(matrix.indices.astype(np.int32, copy=False)),
        read_only(matrix.data.astype(np.float64, copy=False)),
    )


def fix(problem: Problem, model: Model) -> Fixed:
    """What is the same in every round."""
    left, right = problem.left, problem.right
    s, t = model.rates
    own = model.degree_prior
    anchored, free = np.zeros(left.n, np.bool_), np.ones(right.n, np.bool_)
    anchored[problem.anchors[:, 0]] = True
    free[problem.anchors[:, 1]] = False
    degrees = [network.degrees.astype(np.float64) for network in (left, right)]
    ends = [float(network.adjacency.nnz) for network in (left, right)]
    edges, none = _edges(left), np.zeros(0)
    return Fixed(
        LeftSide(edges[0], edges[1], degrees[0], ends[0], t, none, own.left, anchored),
        RightSide(degrees[1], ends[1], s, none, free),
        entries(model.prior),
        *_edges_to(free, right),
        own.right,
    )


def current(problem: Problem, P: csr_array, model: Model) -> Current:
    """What a round starts from."""
    own = model.degree_prior
    mass = [np.minimum(np.asarray(P.sum(axis=axis)).ravel(), 1.0) for axis in (1, 0)]
    # A neighbour that is matched to no neighbour of the other account: evidence against the pair.
    terms = [
        term + 0.5 * sum_over_neighbours(*_edges(network), np.log1p(-believed * rate))
        for term, network, believed, rate in zip(
            (own.left_term, own.right_term), (problem.left, problem.right), mass, model.rates, strict=True
        )
    ]
    return Current(entries(P), terms[0], terms[1], mass[1])


def _edges_to(wanted: BoolArray, network: Network) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(indptr, indices) of the edges to the wanted accounts: the others need no messages."""
    indptr, indices = _edges(network)
    kept = wanted[indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
    return ends, indices[kept]


def _bands(fixed: Fixed, beliefs: Entries, wanted: BoolArray, most: float) -> list[int]:
    """Bounds of runs of right accounts that receive at most about `most` messages together; `wanted` [n_1] are the left
    accounts whose messages are sent."""
    n = len(fixed.indptr) - 1
    senders = np.bincount(beliefs.indices[np.repeat(wanted, np.diff(beliefs.indptr))], minlength=n)
    times = np.repeat(senders, np.diff(fixed.indptr))
    received = np.concatenate([[0], np.cumsum(np.bincount(fixed.neighbours, weights=times, minlength=n))])
    count = max(1, int(np.ceil(received[-1] / most)))
    inner = np.searchsorted(received, received[-1] * np.arange(1, count) / count)
    return sorted({0, *np.clip(inner, 0, n).tolist(), n})


def shares(work: FloatArray, count: int) -> list[tuple[int, int]]:
    """Runs of accounts of about equal work."""
    done = np.concatenate([[0.0], np.cumsum(work)])
    inner = np.searchsorted(done, done[-1] * np.arange(1, count) / count)
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


def no_candidates(n: int, keep: int) -> BestLists:
    """Empty lists."""
    return BestLists(np.empty((n, keep), np.int32), np.empty((n, keep)), np.zeros(n, np.int64))


def _room_for_messages(beliefs: Entries, band: Band, wanted: BoolArray) -> Messages:
    """As many places for each wanted left account as its believed partners have neighbours in the band."""
    each = (band.high - band.low)[beliefs.indices] * np.repeat(wanted, np.diff(beliefs.indptr))
    start = np.concatenate([[0], np.cumsum(each)])[beliefs.indptr]
    lengths = np.zeros(len(start) - 1, np.int64)
    return Messages(start, np.empty(start[-1], np.int32), np.empty(start[-1], np.float32), lengths)


def work_of(fixed: Fixed, beliefs: Entries) -> tuple[FloatArray, FloatArray]:
    """The messages that each left account sends, and the messages that each receives, [n_1]."""
    rows = np.repeat(np.arange(len(beliefs.indptr) - 1), np.diff(beliefs.indptr))
    reached = np.diff(fixed.indptr).astype(np.float64)[beliefs.indices]
    sent = np.bincount(rows, reached, len(beliefs.indptr) - 1).astype(np.float64)
    return sent, sum_over_neighbours(fixed.left.indptr, fixed.left.indices, sent)


def score_accounts(
    fixed: Fixed,
    now: Current,
    accounts: IntArray,
    keep: int,
    *,
    first: int = 0,
    size: int,
    threads: int = 0,
    band: float = 0,
) -> tuple[BestLists, BestLists]:
    """The `keep` best candidates of the left `accounts`, as `size` rows from `first` on, and of the right ones.

    threads = 0: as many as numba has; band = 0: `MOST_MESSAGES` messages at a time.
    """
    fixed, now = read_only_arrays(fixed), read_only_arrays(now)
    n_left, n_right = len(fixed.left.indptr) - 1, len(fixed.indptr) - 1
    inputs = Inputs(
        fixed.left._replace(term=now.left_term), fixed.right._replace(mass=now.mass), now.beliefs, fixed.prior
    )
    facts = np.column_stack([np.full(n_right, -np.inf), now.right_term, fixed.right_features])
    sent, received = work_of(fixed, now.beliefs)
    wanted = np.ones(n_left, np.bool_)
    if len(accounts) < n_left:
        wanted = neighbours_of(fixed, accounts)
        sent = sent * wanted
    threads = _workers(n_right, keep, sent, threads)
    senders = shares(sent, threads)
    receivers = [accounts[low:high].astype(np.int32) for low, high in shares(received[accounts], threads)]
    of_left = no_candidates(size, keep)
    lists = [Lists(of_left, no_candidates(n_right, keep), facts.copy() if i else facts, first) for i in range(threads)]
    if threads > 1:
        _load_kernels()
    low = fixed.indptr[:-1]
    with ThreadPoolExecutor(threads) as pool:
        for start, stop in pairwise(_bands(fixed, now.beliefs, wanted, band or MOST_MESSAGES)):
            high = advance(fixed.indptr, fixed.neighbours, low, stop)
            here = Band(start, stop - start, low, high, fixed.neighbours)
            messages = _room_for_messages(inputs.beliefs, here, wanted)
            _at_once(pool, send_messages, ((rows, inputs, here, messages) for rows in senders))
            scoring = zip(receivers, lists, strict=True)
            _at_once(pool, score_candidates, ((chosen, inputs, here, messages, own) for chosen, own in scoring))
            low = high
            del messages  # or those of the next band would need memory at the same time
    for other in lists[1:]:
        join(lists[0].of_right, other.of_right)
    return of_left, lists[0].of_right


def neighbours_of(fixed: Fixed, accounts: IntArray) -> BoolArray:
    """Which left accounts are neighbours of these, [n_1]."""
    chosen = np.zeros(len(fixed.left.indptr) - 1)
    chosen[accounts] = 1.0
    return np.asarray(sum_over_neighbours(fixed.left.indptr, fixed.left.indices, chosen) > 0)


def without_rejected(L: csr_array, problem: Problem, first: int = 0) -> csr_array:
    """The candidates of the left accounts from the `first` on, without rejected pairs."""
    if len(problem.rejected) == 0:
        return L
    pairs = np.column_stack([row_index(L), L.indices])
    kept = ~problem.is_rejected(pairs + np.array([first, 0]))
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
    problem = Problem(pair, pair, np.array([[0, 0]]))
    score_accounts(fix(problem, model), current(problem, P, model), np.arange(2), 1, size=2, threads=1)
