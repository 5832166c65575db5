"""Where a run is right and where it is wrong, in bins: what a report draws. No id is in the result.

Every function counts; shares are computed by the report, so that bins can be merged and intervals computed.

Communities show in which of them matching goes wrong; no decision depends on them. Label propagation (Raghavan, Albert
and Kumara, Phys. Rev. E 2007): every account takes the label most frequent among its neighbours, repeatedly.
Deviations: in each round a random half of the accounts moves, since with all at once labels oscillate; ties go to the
smaller label. It needs no graph library, and is the same on any number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from kedge.linalg import row_index
from kedge.types import BoolArray, FloatArray, IntArray, Matches, Network, Problem, as_pairs, pair_keys

_DEGREES: Final = (0, 1, 2, 3, 5, 9, 17, 33)  # where the ranges shown begin
_COMMUNITIES: Final = 10  # shown by themselves
_MOST_EDGES: Final = 5_000_000  # beyond this, groups would cost more than the rest of the evaluation
OUTCOMES: Final = ("right match", "wrong match", "right, in review", "wrong, in review", "no match")


def find_communities(network: Network, seed: int, rounds: int = 12) -> IntArray:
    """The community of each account, int64 [n], numbered from the largest; an isolated account is its own."""
    n, indices = network.n, network.adjacency.indices
    label = np.arange(n, dtype=np.int64)
    owner = row_index(network.adjacency)
    rng = np.random.default_rng(seed)
    for _ in range(rounds if len(owner) else 0):
        moves = rng.random(n) < 0.5
        label[moves] = _most_frequent(owner, label[indices], label)[moves]
    _, group, size = np.unique(label, return_inverse=True, return_counts=True)
    place = np.empty(len(size), np.int64)
    place[np.lexsort((np.arange(len(size)), -size))] = np.arange(len(size))
    return np.asarray(place[group])


def _most_frequent(owner: IntArray, seen: IntArray, label: IntArray) -> IntArray:
    """For each account the label that most of its neighbours have; its own where it has none."""
    key, votes = np.unique(pair_keys(owner, seen, len(label)), return_counts=True)
    voter, choice = key // len(label), key % len(label)
    order = np.lexsort((-choice, votes, voter))  # the last row of an account is its winner
    winner = np.flatnonzero(np.diff(voter[order], append=-1))
    result = label.copy()
    result[voter[order][winner]] = choice[order][winner]
    return result


def reliability(predicted: FloatArray, right: BoolArray, bins: int = 10) -> list[dict[str, Any]]:
    """Predicted probabilities against the share of right ones, by equal-width bins; empty bins are omitted."""
    index = np.minimum((np.asarray(predicted) * bins).astype(int), bins - 1)
    rows = []
    for b in range(bins):
        here = index == b
        if here.any():
            rows.append(
                {"pairs": int(here.sum()), "predicted": float(predicted[here].mean()), "right": int(right[here].sum())}
            )
    return rows


def histogram(values: FloatArray, bins: int) -> list[int]:
    """Counts in equal-width bins of [0, 1]."""
    index = np.clip((np.asarray(values) * bins).astype(int), 0, bins - 1)
    counts: list[int] = np.bincount(index, minlength=bins).tolist()
    return counts


def degree_bins(most: int) -> list[tuple[int, int | None]]:
    """Ranges of degrees, (from, to) with both ends in it, doubling; the last is open."""
    starts = [d for d in _DEGREES if d <= max(most, 1)]
    return [*((a, b - 1) for a, b in itertools.pairwise(starts)), (starts[-1], None)]


def by_degree(degrees: IntArray, outcome: IntArray, outcomes: int) -> list[dict[str, Any]]:
    """How many of each outcome (0..outcomes-1) the accounts of each range of degrees had; empty ranges left out."""
    rows = []
    for low, high in degree_bins(int(degrees.max()) if len(degrees) else 0):
        here = (degrees >= low) & (degrees <= (np.inf if high is None else high))
        if here.any():
            rows.append({"from": low, "to": high, "counts": np.bincount(outcome[here], minlength=outcomes).tolist()})
    return rows


def made_and_right(
    probability: FloatArray, right: BoolArray, at: Sequence[float] | FloatArray
) -> tuple[list[int], list[int]]:
    """For each threshold: how many matches are made from it on, and how many of them are right."""
    order = np.argsort(probability, kind="stable")
    start = np.searchsorted(probability[order], at, side="left")
    below = np.concatenate([[0], np.cumsum(right[order])]).astype(np.int64)
    return (len(probability) - start).tolist(), (below[-1] - below[start]).tolist()


def breakdown(
    problem: Problem, matches: Matches, test: IntArray | None, at: Sequence[float], seed: int
) -> dict[str, Any] | None:
    """The binned figures of test pairs; None without any.

    `thresholds`: assigned pairs that touch a test account, and the right ones, from each threshold `at` on; at 0 this
    is the precision and recall of `evaluate.decisions`. `reliability`, `histogram`: the best candidate of each test
    account, by its probability given a counterpart. `degree`, `communities`: what became of the test pairs (OUTCOMES),
    by degree of the account on either side and by community of the left account.
    """
    if test is None or len(test) == 0:
        return None
    pairs = as_pairs(test)
    known = pairs[(pairs >= 0).all(axis=1)]
    partner, wanted = np.full(problem.left.n, -1), np.full(problem.right.n, -1)
    partner[known[:, 0]], wanted[known[:, 1]] = known[:, 1], known[:, 0]
    correct = partner[matches.left] == matches.right
    touches = matches.assigned & ((partner[matches.left] >= 0) | (wanted[matches.right] >= 0))
    made, right = made_and_right(matches.probability[touches], correct[touches], at)
    first = (matches.rank == 1) & (partner[matches.left] >= 0)
    given = np.clip(matches.probability[first] / np.maximum(matches.counterpart[first], 1e-9), 0, 1)
    outcome = _outcomes(problem, matches, correct)[known[:, 0]]
    return {
        "test_pairs": len(pairs),
        "unknown": len(pairs) - len(known),
        "thresholds": {"threshold": [float(t) for t in at], "made": made, "right": right},
        "reliability": reliability(given, correct[first]),
        "histogram": {"right": histogram(given[correct[first]], 20), "wrong": histogram(given[~correct[first]], 20)},
        "outcomes": list(OUTCOMES),
        "degree": {
            "left": by_degree(problem.left.degrees[known[:, 0]], outcome, len(OUTCOMES)),
            "right": by_degree(problem.right.degrees[known[:, 1]], outcome, len(OUTCOMES)),
        },
        "communities": _by_community(problem, known[:, 0], outcome, seed),
    }


def _outcomes(problem: Problem, matches: Matches, correct: BoolArray) -> IntArray:
    """What became of each left account, an index into OUTCOMES."""
    outcome = np.full(problem.left.n, OUTCOMES.index("no match"))
    for decision, words in ((1, ("wrong, in review", "right, in review")), (2, ("wrong match", "right match"))):
        for right, word in enumerate(words):
            rows = matches.assigned & (matches.decision == decision) & (correct == bool(right))
            outcome[matches.left[rows]] = OUTCOMES.index(word)
    return outcome


def _by_community(problem: Problem, accounts: IntArray, outcome: IntArray, seed: int) -> list[dict[str, Any]]:
    """The largest communities of the left network and, last, all the others together."""
    if problem.left.edges > _MOST_EDGES or len(accounts) == 0:
        return []
    community = np.minimum(find_communities(problem.left, seed), _COMMUNITIES)
    sizes = np.bincount(community, minlength=_COMMUNITIES + 1)
    rows = []
    for c in range(_COMMUNITIES + 1):
        counts = np.bincount(outcome[community[accounts] == c], minlength=len(OUTCOMES))
        if counts.sum():
            rows.append(
                {"place": c + 1, "accounts": int(sizes[c]), "others": c == _COMMUNITIES, "counts": counts.tolist()}
            )
    return rows
