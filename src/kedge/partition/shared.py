"""What parts have in common beyond their own accounts, so that their vectors can be brought into one space.

- `border` (default): a sketch of the whole network (kedge.embedding.sketch); a part's halo accounts are the N accounts
  outside with most edges into it, with these edges only.
- `paper`: N shared accounts in every part, for Eq. 12: those of highest degree with all their edges. In heavy-tailed
  networks these are one dense core, which is then copied into every part and trained again there.
- `bridges`: the N accounts whose neighbours are in most parts; of the edges between two shared accounts outside their
  own parts only those that are among the `shared_edges` rarest of one of them.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import PartitionConfig
from kedge.linalg import row_index, with_data
from kedge.types import IntArray, KedgeError, Network, Parts


def choose_shared(network: Network, part: IntArray, config: PartitionConfig, anchors: IntArray) -> IntArray:
    """The accounts shared by all parts, ascending; none where there is one part, or with `border`."""
    if part.max(initial=0) == 0 or config.shared == 0:
        return np.empty(0, np.int64)
    if config.shared >= network.n:
        raise KedgeError(
            f"partition.shared {config.shared} is not below the {network.n} accounts of the network", remedy="lower it"
        )
    if config.shared_by == "border":
        return np.empty(0, np.int64)
    if config.shared_by == "paper":
        worth = network.degrees.astype(np.float64)
    else:
        worth = _parts_touched(network, part).astype(np.float64)
        # Among accounts that touch as many parts, the one with fewer edges costs less.
        worth -= network.degrees / (network.degrees.max() + 1)
    if config.anchors_first:
        worth[anchors] += worth.max() + 1
    order = np.lexsort((np.arange(network.n), -worth))
    return np.sort(order[: config.shared])


def _parts_touched(network: Network, part: IntArray) -> IntArray:
    rows = row_index(network.adjacency)
    shape = (network.n, int(part.max()) + 1)
    touched = csr_array((np.ones(len(rows)), (rows, part[network.adjacency.indices])), shape=shape)
    touched.sum_duplicates()
    return np.diff(touched.indptr)


def choose_halo(
    network: Network, members: IntArray, config: PartitionConfig, anchors: IntArray | None = None
) -> IntArray:
    """The N accounts outside with most edges into a part, ascending; among equals those with fewer edges elsewhere."""
    edges = np.bincount(network.adjacency[members].indices, minlength=network.n)
    edges[members] = 0
    outside = np.flatnonzero(edges)
    first = np.isin(outside, anchors) if config.anchors_first and anchors is not None else np.zeros(len(outside), bool)
    order = np.lexsort((outside, network.degrees[outside], -edges[outside], ~first))
    return np.sort(outside[order[: config.shared]])


def part_adjacency(
    network: Network, parts: Parts, p: int, config: PartitionConfig, anchors: IntArray | None = None
) -> tuple[IntArray, csr_array]:
    """The accounts of part p, members, shared and halo accounts, ascending, and the edges to train on among them."""
    members, border = parts.members(p), config.shared_by == "border"
    accounts = np.union1d(members, choose_halo(network, members, config, anchors) if border else parts.shared)
    inside = csr_array(network.adjacency[accounts][:, accounts])
    if config.shared_by == "paper" or not (border or len(parts.shared)):
        return accounts, inside
    rows, at_home = row_index(inside), parts.part[accounts] == p
    keep = at_home[rows] | at_home[inside.indices]
    if not border:
        others = np.flatnonzero(~keep)
        # The rarest edges of an account are those to its least connected neighbours: they distinguish it best.
        ends = inside.indices[others]
        ranked = others[np.lexsort((ends, network.degrees[accounts[ends]], rows[others]))]
        owner = rows[ranked]
        place = np.arange(len(ranked)) - np.searchsorted(owner, owner)
        keep[ranked[place < config.shared_edges]] = True
    kept = with_data(inside, inside.data * keep)
    kept.eliminate_zeros()
    # An edge chosen by either end counts for both.
    return accounts, kept if border else csr_array(kept.maximum(kept.T))
