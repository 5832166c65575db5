"""What the user should know of the anchors before anything is computed from them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kedge.ingest.check import edges_among
from kedge.methods import evidenced
from kedge.types import IntArray, Network, Problem

__all__ = ["anchor_notes"]

_FEWEST_EDGES = 10  # edges among anchors; from fewer the two rates are mostly what was assumed


def anchor_notes(problem: Problem, method: str) -> tuple[str, ...]:
    """One line for each thing that cannot be estimated from these anchors, and for who is out of their reach."""
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
        verbs = "have an account without edges and say" if some > 1 else "has an account without edges and says"
        notes.append(f"{some:,} of {count:,} anchors {verbs} nothing")
    if evidenced(method) is not None and not isolated.all():
        notes += [*_rate_notes(problem), *_reach_notes(problem)]
    return tuple(notes)


def _rate_notes(problem: Problem) -> list[str]:
    """What the edges among the anchors cannot say of how often an edge is on both sides."""
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
