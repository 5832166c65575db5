"""What the user should know of the anchors before anything is computed from them."""

from __future__ import annotations

from kedge.methods import evidenced
from kedge.types import Problem

__all__ = ["anchor_notes"]

_FEWEST_EDGES = 10  # edges among anchors; from fewer the two rates are mostly what was assumed


def anchor_notes(problem: Problem, method: str) -> tuple[str, ...]:
    """One line for each thing that cannot be estimated from these anchors."""
    left, right = problem.anchors.T
    count = len(problem.anchors)
    if count == 0:
        return ("no anchors: nothing is known of any pair, so nothing can be matched",)
    anchors = f"{count:,} anchor{'s are' if count > 1 else ' is'}"
    isolated = (problem.left.degrees[left] == 0) | (problem.right.degrees[right] == 0)
    notes = []
    if isolated.all():
        notes.append("every anchor has an account without edges: no evidence starts from any")
    elif isolated.any():
        notes.append(f"{int(isolated.sum()):,} of {count:,} anchors have an account without edges and say nothing")
    if evidenced(method) is not None:
        edges = [
            network.adjacency[side][:, side].nnz // 2
            for network, side in ((problem.left, left), (problem.right, right))
        ]
        if min(edges) < _FEWEST_EDGES:
            notes.append(
                f"{anchors} too few to estimate how often an edge is on both sides ({edges[0]} and {edges[1]} edges "
                "among them): about one half is assumed"
            )
    return tuple(notes)
