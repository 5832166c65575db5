"""Take accounts out of what was computed about them. Numbers stay, so that everything else still fits together.

A forgotten account keeps its place but has no edges, no anchor, no candidates, no vector, and a name that says nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from kedge.alignment import Alignment, SparseAlignment, VectorAlignment
from kedge.types import FloatArray, Hypergraph, IntArray, Network, Problem

__all__ = ["Forgotten", "forget_accounts", "forget_scores", "without_entries", "without_pairs"]

Forgotten = tuple[IntArray, IntArray]  # the accounts of the left and of the right network


def forget_accounts(problem: Problem, forgotten: Forgotten) -> Problem:
    """The problem without these accounts' edges, names, anchors, rejected pairs and memberships."""
    return replace(
        problem,
        left=_blanked(problem.left, forgotten[0]),
        right=_blanked(problem.right, forgotten[1]),
        anchors=without_pairs(problem.anchors, forgotten),
        rejected=without_pairs(problem.rejected, forgotten),
        hypergraphs=(_left(problem.hypergraphs[0], forgotten[0]), _left(problem.hypergraphs[1], forgotten[1])),
    )


def _left(hypergraph: Hypergraph | None, accounts: IntArray) -> Hypergraph | None:
    """The hypergraph after these accounts have left all its hyperedges."""
    if hypergraph is None:
        return None
    return Hypergraph(without_entries(hypergraph.H, (accounts, np.empty(0, np.int64))), hypergraph.centres)


def _blanked(network: Network, accounts: IntArray) -> Network:
    if len(accounts) == 0:
        return network
    adjacency = without_entries(network.adjacency, (accounts, accounts))
    mask = np.zeros(network.n, bool)
    mask[accounts] = True
    names = pa.array([_nobody(network, int(account)) for account in np.flatnonzero(mask)], pa.large_string())
    return Network(adjacency, pc.replace_with_mask(network.ids.cast(pa.large_string()), pa.array(mask), names))


def _nobody(network: Network, account: int) -> str:
    """A name for a forgotten account that no other account has."""
    name = f"[forgotten {account}]"
    while network.find([name])[0] not in (-1, account):
        name += "'"
    return name


def without_pairs(pairs: IntArray, forgotten: Forgotten) -> IntArray:
    """The pairs [m, 2] in which none of these accounts stands."""
    return pairs[~(np.isin(pairs[:, 0], forgotten[0]) | np.isin(pairs[:, 1], forgotten[1]))]


def without_entries(matrix: csr_array, forgotten: Forgotten) -> csr_array:
    """The matrix without the entries in these rows and columns; its shape stays."""
    entries = matrix.tocoo()
    kept = ~(np.isin(entries.row, forgotten[0]) | np.isin(entries.col, forgotten[1]))
    return csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape)


def forget_scores(alignment: Alignment, forgotten: Forgotten) -> Alignment:
    """The alignment without a candidate or a direction for these accounts."""
    if isinstance(alignment, SparseAlignment):
        strengths = None if alignment.strengths is None else without_entries(alignment.strengths, forgotten)
        laid = None if alignment.vectors is None else _forget_directions(alignment.vectors, forgotten)
        return SparseAlignment(without_entries(alignment.scores, forgotten), strengths, laid)
    if isinstance(alignment, VectorAlignment):
        return _forget_directions(alignment, forgotten)
    raise TypeError(f"cannot forget accounts in {type(alignment).__name__}")


def _forget_directions(alignment: VectorAlignment, forgotten: Forgotten) -> VectorAlignment:
    head = None if alignment.head is None else without_entries(alignment.head, forgotten)
    left, right = (_zeroed(getattr(alignment, side), forgotten[i]) for i, side in enumerate(("left", "right")))
    return replace(alignment, left=left, right=right, head=head)


def _zeroed(vectors: FloatArray, accounts: IntArray) -> FloatArray:
    """The vectors [n, d] with zeros for these accounts."""
    kept = np.array(vectors)
    kept[accounts] = 0
    return kept
