"""Accounts under other numbers: the canonical order of a problem, an order for the cache, and the way back.

Numbers carry no meaning, yet everything that is drawn at random, summed or broken as a tie follows them. `canonical`
numbers accounts by what the networks and anchors say of them, so that the order of the rows in a file, the directions
of edges and the names of accounts have no effect on a result (docs/decisions/0034).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, reverse_cuthill_mckee

from kedge.linalg.sparse import with_data
from kedge.types import Hypergraph, IntArray, Network, Problem

Colours = NDArray[np.uint64]

_MOST_ROUNDS: Final = 16  # unmeasured; on social networks nothing changes after two to five
_BLOCK: Final = 1 << 22  # entries whose colours are summed at a time
_NEIGHBOUR, _PARTNER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def canonical(problem: Problem) -> Problem:
    """The same problem, its accounts, anchors, rejected pairs and hyperedges in their canonical order."""
    colours = _refine(problem)
    networks = (problem.left, problem.right)
    salts = _salts(colours)
    orders = [_in_order(*given) for given in zip(colours, networks, salts, strict=True)]
    numbered = renumber(problem, orders[0], orders[1])
    in_order = [own[order] for own, order in zip(colours, orders, strict=True)]
    own = [None if one is None else sort_hyperedges(one) for one in numbered.hypergraphs]
    return replace(
        numbered,
        anchors=_sorted_pairs(numbered.anchors, in_order),
        rejected=_sorted_pairs(numbered.rejected, in_order),
        hypergraphs=(own[0], own[1]),
        shared_values=_sort_values(*numbered.shared_values),
    )


def canonical_network(network: Network) -> IntArray:
    """The accounts of a single network in their canonical order, [n]."""
    empty = Network.from_edges([], 0)
    colours = _refine(Problem(network, empty, np.empty((0, 2), np.int64)))
    return _in_order(colours[0], network, _salts(colours)[0])


def _refine(problem: Problem) -> list[Colours]:
    """A number for each account that depends on what surrounds it, by colour refinement (Weisfeiler and Leman).

    An account's next colour is a hash of its own, its neighbours' with the weights of the edges, and its partner's.
    Both networks are treated alike, so exchanging them exchanges the colours.
    """
    networks, anchors = (problem.left, problem.right), problem.anchors.T
    colours = [_mix(network.degrees.astype(np.uint64)) for network in networks]
    distinct = [0, 0]
    for _ in range(_MOST_ROUNDS):
        before = colours
        colours = [_mix(own + _neighbours(own, network)) for own, network in zip(before, networks, strict=True)]
        for side in (0, 1):
            colours[side][anchors[side]] = _mix(
                colours[side][anchors[side]] + before[1 - side][anchors[1 - side]] * _PARTNER
            )
        found = [len(np.unique(one)) for one in colours]
        if found == distinct:
            break
        distinct = found
    return colours


def _neighbours(colours: Colours, network: Network) -> Colours:
    """The sum, modulo 2^64, of the mixed colours of each account's neighbours; blocks bound the memory."""
    adjacency = network.adjacency
    total = np.zeros(network.n, np.uint64)
    start = 0
    while start < network.n:
        stop = max(start + 1, int(np.searchsorted(adjacency.indptr, adjacency.indptr[start] + _BLOCK)) - 1)
        entries = slice(adjacency.indptr[start], adjacency.indptr[stop])
        weights = adjacency.data[entries].view(np.uint32).astype(np.uint64)
        running = np.zeros(len(weights) + 1, np.uint64)
        np.cumsum(_mix(colours[adjacency.indices[entries]] + weights * _NEIGHBOUR), out=running[1:])
        place = adjacency.indptr[start : stop + 1] - adjacency.indptr[start]
        total[start:stop] = running[place[1:]] - running[place[:-1]]
        start = stop
    return total


def _mix(values: Colours) -> Colours:
    """splitmix64's finaliser: each bit of the input changes about half of the output's."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)


def _salts(colours: Sequence[Colours]) -> list[bytes]:
    """The keys of the hashes that order equals: another for each network, so that equal ids are no hint."""
    sums = [int(own.sum(dtype=np.uint64)) for own in colours]
    return [
        b"".join(one.to_bytes(8, "little") for one in (own, side * (sums[0] == sums[1])))
        for side, own in enumerate(sums)
    ]


def _in_order(colours: Colours, network: Network, salt: bytes) -> IntArray:
    """The accounts breadth first by colour; those of one colour by a keyed hash of their ids."""
    order = np.argsort(colours, kind="stable")
    same = np.diff(colours[order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    accounts = order[tied]
    names = network.ids.take(pa.array(accounts)).to_pylist()
    hashes = np.array([hashlib.blake2b(name.encode(), digest_size=8, key=salt).digest() for name in names], "S8")
    order[tied] = accounts[np.lexsort((hashes, colours[accounts]))]
    return np.asarray(order[_breadth_first(reorder(network.adjacency, order, order)[0])], np.int64)


def _breadth_first(adjacency: csr_array) -> IntArray:
    """The accounts breadth first, from the first of each component, neighbours by their numbers.

    Accounts of one colour, such as the ends of separate edges, get numbers that fit those of their neighbours: with
    other names the same matrix. It also puts neighbours near each other.
    """
    n = adjacency.shape[0]
    _, component = connected_components(adjacency, directed=False)
    roots = np.unique(component, return_index=True)[1]
    above = csr_array(
        (
            np.ones(adjacency.nnz + len(roots), np.int8),
            np.append(adjacency.indices, roots),
            np.append(adjacency.indptr, adjacency.nnz + len(roots)),
        ),
        shape=(n + 1, n + 1),
    )
    return np.asarray(breadth_first_order(above, n, return_predecessors=False)[1:], np.int64)


def _sorted_pairs(pairs: IntArray, colours: Sequence[Colours]) -> IntArray:
    """The pairs in an order that stays when the sides are exchanged."""
    left, right = pairs.T
    both = _mix(colours[0][left]) + _mix(colours[1][right])
    return pairs[np.lexsort((np.minimum(left, right), left + right, both))]


def sort_hyperedges(hypergraph: Hypergraph) -> Hypergraph:
    """The hyperedges in an order that depends on their members and memberships."""
    return _with_order(hypergraph, np.argsort(_hyperedge_colours(hypergraph), kind="stable"))


def _sort_values(left: Hypergraph | None, right: Hypergraph | None) -> tuple[Hypergraph | None, Hypergraph | None]:
    """The values of profiles in one order for both networks: a column is the same value in both."""
    given = [one for one in (left, right) if one is not None]
    if not given:
        return None, None
    colours = _hyperedge_colours(given[0])
    for one in given[1:]:
        colours = colours + _hyperedge_colours(one)
    order = np.argsort(colours, kind="stable")
    return None if left is None else _with_order(left, order), None if right is None else _with_order(right, order)


def _hyperedge_colours(hypergraph: Hypergraph) -> Colours:
    """A number of each hyperedge that depends on its members and memberships."""
    H = csr_array(hypergraph.H)
    rows = np.repeat(np.arange(H.shape[0], dtype=np.uint64), np.diff(H.indptr))
    marks = _mix(_mix(rows) + H.data.astype(np.float64).view(np.uint64) * _NEIGHBOUR)
    colours = np.zeros(H.shape[1], np.uint64)
    np.add.at(colours, H.indices, marks)
    return colours


def _with_order(hypergraph: Hypergraph, order: IntArray) -> Hypergraph:
    centres = None if hypergraph.centres is None else hypergraph.centres[order]
    return Hypergraph(csr_array(csr_array(hypergraph.H)[:, order]), centres)


def nearby_order(network: Network) -> IntArray:
    """The accounts, each near its neighbours (reverse Cuthill-McKee), [n].

    A round of evidence reads the beliefs of neighbours and the neighbours of candidates all over memory. In another
    order nearly each of these reads misses the cache once networks have outgrown it; among near numbers most hit.
    """
    return np.asarray(reverse_cuthill_mckee(csr_matrix(network.adjacency), symmetric_mode=True), np.int64)


def renumber(problem: Problem, left: IntArray, right: IntArray) -> Problem:
    """The same problem with account left[i] as number i, and right[j] as number j."""
    orders = (left, right)
    places = [np.argsort(order) for order in orders]

    def moved(pairs: IntArray) -> IntArray:
        return np.column_stack([place[column] for place, column in zip(places, pairs.T, strict=True)])

    networks = [
        renumber_network(network, order) for network, order in zip((problem.left, problem.right), orders, strict=True)
    ]
    own, values = (
        [None if one is None else renumber_hypergraph(one, order) for one, order in zip(both, orders, strict=True)]
        for both in (problem.hypergraphs, problem.shared_values)
    )
    known = problem.profiles and (problem.profiles[0].take(left), problem.profiles[1].take(right))
    return Problem(
        networks[0],
        networks[1],
        moved(problem.anchors),
        moved(problem.rejected),
        (own[0], own[1]),
        profiles=known,
        shared_values=(values[0], values[1]),
    )


def renumber_network(network: Network, order: IntArray) -> Network:
    """The same network with account order[i] as number i."""
    return Network(reorder(network.adjacency, order, order)[0], network.ids.take(pa.array(order)))


def renumber_hypergraph(hypergraph: Hypergraph, order: IntArray) -> Hypergraph:
    """The same hypergraph with account order[i] as number i."""
    centres = hypergraph.centres
    if centres is not None:
        centres = np.where(centres >= 0, np.argsort(order)[centres], -1)
    return Hypergraph(csr_array(hypergraph.H[order]), centres)


def reorder(matrix: csr_array, rows: IntArray, columns: IntArray) -> tuple[csr_array, IntArray]:
    """matrix[rows][:, columns] with sorted rows, and the stored entry of `matrix` that each of its entries was."""
    place = np.argsort(columns)
    kind = np.int32 if matrix.nnz <= np.iinfo(np.int32).max else np.int64  # half the memory, where it is enough
    taken = with_data(matrix, np.arange(matrix.nnz, dtype=kind))[rows]
    moved = place.astype(taken.indices.dtype)[taken.indices]
    entries = csr_array((taken.data, moved, taken.indptr), matrix.shape)
    del taken, moved
    entries.sort_indices()
    return with_data(entries, matrix.data[entries.data]), entries.data
