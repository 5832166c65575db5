"""Edges dropped from both levels while they are to be predicted.

Convolved over an edge, two accounts are alike because of that edge: the fit explains the edges of its input by
themselves and learns nothing for others. So each training step drops some edges from the convolutions and learns from
those alone. An edge (u, v) enters as Â[u, v] and as the membership of u in the hyperedge around v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numba
import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from kedge.config import MgcnConfig
from kedge.linalg.spmm import Rows, Sparse
from kedge.mgcn.holdout import list_edges
from kedge.types import FloatArray, Hypergraph, IntArray, Network, narrow, pair_keys


def draw_kept(edges: int, settings: MgcnConfig, generator: torch.Generator) -> Tensor | None:
    """0 for the edges that a step drops, 1 for the others and, last, for entries of no edge; None: none are dropped."""
    if settings.drop_edges == 0 or settings.levels == "none":
        return None
    kept = (torch.rand(edges + 1, generator=generator) >= settings.drop_edges).float()
    kept[-1] = 1.0
    return kept if kept[:-1].sum() < edges else None


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _weigh(
    offsets: IntArray, indices: IntArray, values: FloatArray, kind: IntArray, weights: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    kept_offsets = np.zeros_like(offsets)
    kept_indices = np.empty_like(indices)
    kept_values = np.empty_like(values)
    place = 0
    for row in range(len(offsets) - 1):
        for entry in range(offsets[row], offsets[row + 1]):
            weight = weights[kind[entry]]
            # Written always, and written over unless kept: half are dropped, so a branch would be mispredicted.
            kept_indices[place] = indices[entry]
            kept_values[place] = values[entry] * weight
            place += weight != 0
        kept_offsets[row + 1] = place
    return kept_offsets, kept_indices[:place], kept_values[:place]


def weigh_entries(rows: Rows, kind: IntArray, weights: FloatArray) -> Rows:
    """The matrix with each entry times the weight of its kind, and without entries of weight 0."""
    kept = _weigh(rows.offsets.numpy(), rows.indices.numpy(), rows.values.numpy(), kind, weights)
    return Rows(*(torch.from_numpy(part) for part in kept))


@dataclass(frozen=True)
class Marks:
    """The edge that each entry of a sparse matrix represents, as its number among the pairs i < j; their count: none.

    `forward` [nnz] are those of the matrix's entries, `backward` those of its transpose's, None if it is symmetric.
    """

    forward: IntArray | Tensor  # tensors on another device than the CPU
    backward: IntArray | Tensor | None

    def drop(self, matrix: Sparse, kept: Tensor, scale: float) -> Sparse:
        """The matrix without the entries of dropped edges; `kept` [m + 1] as in `draw_kept`.

        Entries of kept edges grow by `scale`, so that an account's sum stays what it is on average.
        """
        if isinstance(self.forward, Tensor):  # on another device: see kedge.mgcn.device
            scaled = torch.cat([kept[:-1] * scale, kept[-1:]])
            rows = matrix.forward.scaled(scaled[self.forward.long()])
            other = None if self.backward is None else scaled[cast(Tensor, self.backward).long()]
            return Sparse(rows, rows if other is None else matrix.backward.scaled(other), matrix.shape)
        weights = (kept * scale).numpy()
        weights[-1] = 1.0
        forward = weigh_entries(matrix.forward, self.forward, weights)
        other_way = cast("IntArray | None", self.backward)
        backward = forward if other_way is None else weigh_entries(matrix.backward, other_way, weights)
        return Sparse(forward, backward, matrix.shape)


def _number(network: Network, first: IntArray, second: IntArray) -> IntArray:
    """The number of each edge (first, second) in the order of `list_edges`; m where it is none."""
    edges = list_edges(network)
    known = pair_keys(edges[:, 0], edges[:, 1], network.n)
    keys = pair_keys(np.minimum(first, second), np.maximum(first, second), network.n)
    place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    return np.asarray(np.where(known[place] == keys, place, len(known)) if len(known) else np.zeros(len(keys), int))


def mark(network: Network, matrix: Sparse) -> Marks:
    """Marks of a symmetric n × n matrix whose entry (u, v) represents the edge (u, v)."""
    rows = np.repeat(np.arange(network.n), matrix.forward.offsets.diff().numpy())
    number = _number(network, rows, matrix.forward.indices.numpy())
    return Marks(narrow(number), None)


def mark_memberships(network: Network, hypergraph: Hypergraph, G: Sparse) -> Marks | None:
    """Marks of Θ's factor [n, e]: the membership of v in the hyperedge around c represents the edge (v, c)."""
    if hypergraph.centres is None:
        return None
    rows = np.repeat(np.arange(network.n), G.forward.offsets.diff().numpy())
    columns = G.forward.indices.numpy()
    centres = np.asarray(hypergraph.centres)[columns]
    # Without a centre, or at its own centre, a membership represents no edge.
    number = _number(network, rows, np.where(centres < 0, rows, centres))
    order = csr_array((np.arange(len(columns)), columns, G.forward.offsets.numpy()), shape=G.shape).T.tocsr()
    order.sort_indices()
    return Marks(narrow(number), narrow(number[order.data]))
