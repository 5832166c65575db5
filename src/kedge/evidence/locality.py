"""Accounts in an order that puts neighbours near each other (reverse Cuthill-McKee), and the way back.

A round of evidence reads the beliefs of neighbours and the neighbours of candidates all over memory. In the order of a
file nearly each of these reads misses the cache once networks have outgrown it; among near numbers most hit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

from kedge.linalg import with_data
from kedge.types import IntArray, Network, Problem


def nearby_order(network: Network) -> IntArray:
    """The accounts, each near its neighbours, [n]."""
    return np.asarray(reverse_cuthill_mckee(csr_matrix(network.adjacency), symmetric_mode=True), np.int64)


def renumber(problem: Problem, left: IntArray, right: IntArray) -> Problem:
    """The same problem with account left[i] as number i, and right[j] as number j.

    Hyperedges of the user's own are left out: evidence has no use for them.
    """
    places = np.argsort(left), np.argsort(right)

    def moved(pairs: IntArray) -> IntArray:
        return np.column_stack([place[column] for place, column in zip(places, pairs.T, strict=True)])

    near, far = (
        Network(reorder(network.adjacency, order, order)[0], network.ids.take(order))
        for network, order in ((problem.left, left), (problem.right, right))
    )
    return replace(
        problem,
        left=near,
        right=far,
        anchors=moved(problem.anchors),
        rejected=moved(problem.rejected),
        hypergraphs=(None, None),
    )


def reorder(matrix: csr_array, rows: IntArray, columns: IntArray) -> tuple[csr_array, IntArray]:
    """matrix[rows][:, columns] with sorted rows, and the stored entry of `matrix` that each of its entries was."""
    place = np.argsort(columns)
    taken = with_data(matrix, np.arange(matrix.nnz))[rows]
    entries = csr_array((taken.data, place[taken.indices], taken.indptr), matrix.shape)
    entries.sort_indices()
    return with_data(entries, matrix.data[entries.data]), entries.data
