"""Communities by modularity (Louvain; networkit's PLM), the same for the same seed."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import row_index
from kedge.types import IntArray


def louvain(adjacency: csr_array, seed: int) -> IntArray:
    """The community of each account, numbered 0.. in the order of their first account.

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
        found = networkit.community.PLM(graph, refine=True)
        found.run()
        label = np.array(found.getPartition().getVector(), dtype=np.int64)
    finally:
        networkit.setNumberOfThreads(threads)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    result: IntArray = number[inverse]
    return result
