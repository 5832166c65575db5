"""Algorithm 1 of the paper: cut a network into parts of N_min to N_max accounts.

    P = Louvain(G)
    repeat T times: for each part G' of P
        fewer than N_min accounts: give them to other parts
        more than N_max accounts:  put Louvain(G') in its place

Louvain's communities by modularity are networkit's PLM, the same for the same seed. What the paper leaves open: small
parts go to a random part (`paper`) or to the part they share most edges with and that has room (`edges`, the default);
small parts without edges to others are put together. A part that Louvain cannot split, or that is still too large after
T rounds, is cut along a breadth-first walk, so that neighbours stay together, and named in the notes.

`paper` reads "randomly assign it to other created partitions" part by part, in their order: a small part goes, whole,
to a random one of all others that exist then, small ones included, until none is small. The others with room for it
come first, since sizes from N_min to N_max are the aim; where none has room a part outgrows N_max and the next round
splits it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from kedge.config import PartitionConfig
from kedge.linalg import row_index
from kedge.types import IntArray, KedgeError, Network


def louvain(adjacency: csr_array, seed: int, resolution: float = 1.0) -> IntArray:
    """The community of each account, numbered 0.. in the order of their first account.

    The higher the resolution, the smaller the communities; 1 is modularity as it is.

    One thread: with more, networkit's result depends on who comes first.
    """
    import networkit

    n = adjacency.shape[0]
    if adjacency.nnz == 0:
        return np.arange(n)
    rows = row_index(adjacency)
    upper = rows < adjacency.indices
    ends = (rows[upper].astype(np.uint64), adjacency.indices[upper].astype(np.uint64))
    threads = networkit.getMaxNumberOfThreads()
    networkit.setNumberOfThreads(1)
    try:
        networkit.setSeed(seed, False)
        graph = networkit.GraphFromCoo((adjacency.data[upper].astype(np.float64), ends), n=n, weighted=True)
        found = networkit.community.PLM(graph, refine=True, gamma=resolution)
        found.run()
        label = np.array(found.getPartition().getVector(), dtype=np.int64)
    finally:
        networkit.setNumberOfThreads(threads)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[inverse])


@dataclass(frozen=True)
class Cut:
    """The part of each account, and what had to be done beyond the algorithm's letter."""

    part: IntArray
    notes: tuple[str, ...]


def cut_network(network: Network, config: PartitionConfig, seed: int) -> Cut:
    """Parts within [N_min, N_max], or a note that names each exception."""
    if config.n_min > config.n_max:
        raise KedgeError(
            f"partition.n_min {config.n_min} is above partition.n_max {config.n_max}", remedy="lower it or raise n_max"
        )
    if network.n <= config.n_max:
        return Cut(np.zeros(network.n, np.int64), ())
    rng = np.random.default_rng([seed, 12])
    adjacency = network.adjacency
    notes: list[str] = []
    part = louvain(adjacency, seed)
    for round_ in range(config.rounds):
        part = _merge_small(adjacency, part, config, rng)
        sizes = np.bincount(part)
        large = np.flatnonzero(sizes > config.n_max)
        if len(large) == 0:
            break
        for p in large:
            part, note = _split(adjacency, part, int(p), config.n_max, seed + round_ + 1)
            notes += note
    part = _merge_small(adjacency, part, config, rng)
    for p in np.flatnonzero(np.bincount(part) > config.n_max):
        notes.append(f"a part of {int((part == p).sum())} accounts was still too large after {config.rounds} rounds")
        part = _chop(adjacency, part, int(p), config.n_max)
    part = np.unique(part, return_inverse=True)[1]
    small = np.flatnonzero(np.bincount(part) < config.n_min)
    if len(small) and len(np.bincount(part)) > 1:
        notes.append(f"{len(small)} parts stay under {config.n_min} accounts: no other part has room for them")
    return Cut(part, tuple(notes))


def _split(adjacency: csr_array, part: IntArray, p: int, n_max: int, seed: int) -> tuple[IntArray, list[str]]:
    """Part p replaced by its communities, and a note where Louvain finds only one."""
    members = np.flatnonzero(part == p)
    inside = csr_array(adjacency[members][:, members])
    found = louvain(inside, seed)
    if found.max() == 0:
        note = f"Louvain cannot split a part of {len(members)} accounts: it was cut along a breadth-first walk"
        return _chop(adjacency, part, p, n_max), [note]
    result = part.copy()
    # The first community keeps the number, so that numbers stay small.
    result[members] = np.where(found == 0, p, part.max() + found)
    return result, []


def _chop(adjacency: csr_array, part: IntArray, p: int, n_max: int) -> IntArray:
    members = np.flatnonzero(part == p)
    inside = csr_array(adjacency[members][:, members])
    left = np.ones(len(members), bool)
    walk: list[IntArray] = []
    for start in np.argsort(-np.diff(inside.indptr), kind="stable"):
        if left[start]:
            reached = breadth_first_order(inside, int(start), directed=False, return_predecessors=False)
            walk.append(reached)
            left[reached] = False
    order = np.concatenate(walk)
    pieces = -(-len(members) // n_max)
    result = part.copy()
    for number, piece in enumerate(np.array_split(order, pieces)):
        result[members[piece]] = p if number == 0 else part.max() + number
    return result


def _merge_small(adjacency: csr_array, part: IntArray, config: PartitionConfig, rng: np.random.Generator) -> IntArray:
    part = np.unique(part, return_inverse=True)[1]
    sizes = np.bincount(part)
    small = np.flatnonzero(sizes < config.n_min)
    if len(small) == 0 or len(sizes) == 1:
        return part
    if config.merge == "paper":
        return _merge_at_random(part, sizes, config, rng)
    return _merge_by_edges(adjacency, part, sizes, config)


def _merge_at_random(part: IntArray, sizes: IntArray, config: PartitionConfig, rng: np.random.Generator) -> IntArray:
    """Each small part, in order, whole into a random other one; one that has grown to N_min meanwhile stays."""
    home, size = np.arange(len(sizes)), sizes.astype(np.int64).copy()
    alive, place = list(range(len(sizes))), list(range(len(sizes)))  # the parts that exist, and where each is there
    for p in range(len(sizes)):
        if size[p] >= config.n_min or len(alive) == 1:
            continue
        last = alive.pop()
        if last != p:
            alive[place[p]], place[last] = last, place[p]
        target = alive[rng.integers(len(alive))]
        if size[target] + size[p] > config.n_max:
            roomy = [q for q in alive if size[q] + size[p] <= config.n_max]
            target = roomy[rng.integers(len(roomy))] if roomy else target
        home[p] = target
        size[target] += size[p]
    while (home[home] != home).any():  # a part that took others may have gone to another itself
        home = home[home]
    return np.unique(home[part], return_inverse=True)[1]


def _merge_by_edges(adjacency: csr_array, part: IntArray, sizes: IntArray, config: PartitionConfig) -> IntArray:
    """Smallest first: to the part with most edges to it that has room; without such, to the emptiest small one."""
    count = len(sizes)
    rows = row_index(adjacency)
    between = csr_array((np.ones(adjacency.nnz), (part[rows], part[adjacency.indices])), shape=(count, count))
    between.sum_duplicates()
    home = np.arange(count)
    size = sizes.astype(np.int64).copy()

    def root(p: int) -> int:
        while home[p] != p:
            p = int(home[p])
        return p

    links: list[dict[int, float]] = []
    for p in range(count):
        span = slice(between.indptr[p], between.indptr[p + 1])
        links.append(dict(zip(between.indices[span].tolist(), between.data[span].tolist(), strict=True)))
    rest: int | None = None  # where parts without edges to others are put together
    for p in np.argsort(sizes, kind="stable").tolist():
        own = root(p)
        if size[own] >= config.n_min:
            continue
        ties: dict[int, float] = {}
        for other, edges in links[own].items():
            to = root(other)
            if to != own and size[to] + size[own] <= config.n_max:
                ties[to] = ties.get(to, 0.0) + edges
        if ties:
            target = min(ties, key=lambda to: (-ties[to], to))
        elif rest is not None and root(rest) != own and size[root(rest)] < config.n_min:
            # Filled to N_min and no further: two small ones always have room for each other then.
            target = root(rest)
        else:
            rest = own
            continue
        home[own] = target
        size[target] += size[own]
        for other, edges in links[own].items():
            links[target][other] = links[target].get(other, 0.0) + edges
    final = np.array([root(p) for p in range(count)])
    return _absorb(np.unique(final[part], return_inverse=True)[1], config)


def _absorb(merged: IntArray, config: PartitionConfig) -> IntArray:
    """Parts that are still small, with no edges to others, go to the smallest part that has room."""
    left = np.bincount(merged)
    for p in np.flatnonzero(left < config.n_min).tolist():
        others = [q for q in range(len(left)) if q != p and left[q] > 0 and left[q] + left[p] <= config.n_max]
        if others:
            target = min(others, key=lambda q: (left[q], q))
            merged[merged == p] = target
            left[target] += left[p]
            left[p] = 0
    return np.unique(merged, return_inverse=True)[1]
