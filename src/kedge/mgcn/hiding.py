"""Edges hidden from both levels while they are to be foreseen.

Convolved over an edge, two accounts are alike because of that edge: the fit explains the edges it sees by themselves
and has nothing to learn for those it does not. So each training step hides some edges from the convolutions and learns
from those alone. An edge (u, v) enters as Â[u, v] and as the membership of u in the hyperedge around v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from torch import Tensor

from kedge.mgcn.sifting import sift_rows
from kedge.spmm import Sparse
from kedge.types import Hypergraph, IntArray, Network

__all__ = ["Marks", "mark", "mark_memberships"]


@dataclass(frozen=True)
class Marks:
    """Which edge each entry of a sparse matrix stands for, as its number among the pairs i < j; their count: none.

    `forward` [nnz] are those of the matrix's entries, `backward` those of its transpose's, None if it is symmetric.
    """

    forward: IntArray
    backward: IntArray | None

    def hide(self, matrix: Sparse, seen: Tensor, scale: float) -> Sparse:
        """The matrix without the entries of unseen edges; `seen` [m + 1] of 0 and 1 ends in 1, for entries of no edge.

        Entries of seen edges grow by `scale`, so that an account's sum stays what it is on average.
        """
        weights = (seen * scale).numpy()
        weights[-1] = 1.0
        forward = sift_rows(matrix.forward, self.forward, weights)
        backward = forward if self.backward is None else sift_rows(matrix.backward, self.backward, weights)
        return Sparse(forward, backward, matrix.shape)


def _number(network: Network, first: IntArray, second: IntArray) -> IntArray:
    """The number of each edge (first, second) in the order of pairs i < j, as in `list_edges`; m where it is none."""
    rows = np.repeat(np.arange(network.n), network.degrees)
    above = rows < network.adjacency.indices
    known = rows[above] * network.n + network.adjacency.indices[above].astype(np.int64)
    keys = np.minimum(first, second).astype(np.int64) * network.n + np.maximum(first, second)
    place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    number: IntArray = np.where(known[place] == keys, place, len(known)) if len(known) else np.zeros(len(keys), int)
    return number


def mark(network: Network, matrix: Sparse) -> Marks:
    """Marks of a symmetric n × n matrix whose entry (u, v) is there because of the edge (u, v)."""
    rows = np.repeat(np.arange(network.n), matrix.forward.offsets.diff().numpy())
    number = _number(network, rows, matrix.forward.indices.numpy())
    return Marks(number.astype(np.int32), None)


def mark_memberships(network: Network, hypergraph: Hypergraph, G: Sparse) -> Marks | None:
    """Marks of Θ's factor [n, e]: the membership of v in the hyperedge around c stands for the edge (v, c)."""
    if hypergraph.centres is None:
        return None
    rows = np.repeat(np.arange(network.n), G.forward.offsets.diff().numpy())
    columns = G.forward.indices.numpy()
    centres = np.asarray(hypergraph.centres)[columns]
    # Without a centre, or at its own centre, a membership stands for no edge.
    number = _number(network, rows, np.where(centres < 0, rows, centres))
    order = csr_array((np.arange(len(columns)), columns, G.forward.offsets.numpy()), shape=G.shape).T.tocsr()
    order.sort_indices()
    return Marks(number.astype(np.int32), number[order.data].astype(np.int32))
