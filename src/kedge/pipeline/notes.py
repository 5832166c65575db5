"""What the user should know: of the anchors before anything is computed, of the matches once they are decided."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kedge.ingest import edges_among
from kedge.methods import Method
from kedge.types import IntArray, Matches, Network, Problem

_FEWEST_EDGES = 10  # edges among anchors; from fewer the two rates are mostly what was assumed
_EQUAL = 1e-9  # of a score: they are sums of floats, in an order that differs between pairs


def anchor_notes(problem: Problem, method: Method) -> tuple[str, ...]:
    """One line for each quantity that these anchors cannot estimate, and for the accounts out of their reach."""
    left, right = problem.anchors.T
    count = len(problem.anchors)
    if count == 0:
        return ("no anchors: nothing is known of any pair, so nothing can be matched",)
    isolated = (problem.left.degrees[left] == 0) | (problem.right.degrees[right] == 0)
    notes = []
    if isolated.all():
        notes.append("every anchor has an account without edges: no evidence starts from any")
    elif isolated.any():
        some = int(isolated.sum())
        verb = "have" if some > 1 else "has"
        notes.append(f"{some:,} of {count:,} anchors {verb} an account without edges: no evidence starts there")
    if method.explains and not isolated.all():
        notes += [*_rate_notes(problem), *_reach_notes(problem)]
    return tuple(notes)


def _rate_notes(problem: Problem) -> list[str]:
    """Why the edges among the anchors do not show how often an edge is on both sides, where they do not."""
    left, right = problem.anchors.T
    count = len(problem.anchors)
    inside = [edges_among(problem.left, left), edges_among(problem.right, right)]
    edges = [matrix.nnz // 2 for matrix in inside]
    if min(edges) < _FEWEST_EDGES:
        return [
            f"{count:,} anchor{'s are' if count > 1 else ' is'} too few to estimate how often an edge is on both sides "
            f"({edges[0]} and {edges[1]} edges among them): about one half is assumed"
        ]
    if csr_array(inside[0].multiply(inside[1])).nnz == 0:
        return [
            f"not one of the {edges[0]:,} and {edges[1]:,} edges among the anchors is in both networks: they seem to "
            "have nothing in common, expect no usable match"
        ]
    return []


def _reach_notes(problem: Problem) -> list[str]:
    """Which accounts no path joins to any anchor."""
    sides = zip((problem.left, problem.right), problem.anchors.T, ("left", "right"), strict=True)
    far = [(_out_of_reach(network, anchored), name) for network, anchored, name in sides]
    if not any(count for count, _ in far):
        return []
    accounts = " and ".join(f"{count:,} {name} accounts" for count, name in far if count)
    return [f"no path leads from an anchor to {accounts}: no evidence reaches them"]


def _out_of_reach(network: Network, anchored: IntArray) -> int:
    """How many accounts with edges are in components without an anchor."""
    _, component = connected_components(network.adjacency, directed=False)
    return int((~np.isin(component, component[anchored]) & (network.degrees > 0)).sum())


def outcome_notes(matches: Matches) -> tuple[str, ...]:
    """One line for each reason why no pair, or no certain pair, was found."""
    if len(matches.left) == 0:
        return ("no account has any candidate, so nothing is matched",)
    notes = []
    accounts, tied = int((matches.rank == 1).sum()), _tied(matches)
    if tied and np.ptp(matches.score) <= _EQUAL * max(float(np.abs(matches.score).max()), 1.0):
        notes.append("all scores are equal: the method does not distinguish candidates")
    elif 2 * tied > accounts:
        notes.append(
            f"{tied:,} of {accounts:,} accounts have several best candidates with equal scores: "
            "which of them stands first means nothing"
        )
    if len(matches.partners("match")) == 0:
        notes.append(
            f"no pair is sure enough to be called a match: the surest has a probability of "
            f"{matches.probability.max():.2f}, the threshold is {matches.threshold:.2f}"
        )
    return tuple(notes)


def _tied(matches: Matches) -> int:
    """How many accounts have more than one candidate with their best score."""
    best = np.full(int(matches.left.max()) + 1, -np.inf)
    np.maximum.at(best, matches.left, matches.score)
    best = best[matches.left]
    leading = matches.score >= best - _EQUAL * np.maximum(np.abs(best), 1.0)
    return int((np.bincount(matches.left[leading]) > 1).sum())
