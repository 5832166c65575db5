"""Communities, to show in which of them matching goes wrong; no decision depends on them.

Label propagation (Raghavan, Albert and Kumara, Phys. Rev. E 2007): every account takes the label most frequent among
its neighbours, repeatedly. Deviations: in each round a random half of the accounts moves, since with all at once
labels oscillate; ties go to the smaller label. It needs no graph library, and is the
same on any number of threads.
"""

from __future__ import annotations

import numpy as np

from kedge.linalg import row_index
from kedge.types import IntArray, Network, pair_keys


def find_communities(network: Network, seed: int, rounds: int = 12) -> IntArray:
    """The community of each account, int64 [n], numbered from the largest; an isolated account is its own."""
    n, indices = network.n, network.adjacency.indices
    label = np.arange(n, dtype=np.int64)
    owner = row_index(network.adjacency)
    rng = np.random.default_rng(seed)
    for _ in range(rounds if len(owner) else 0):
        moves = rng.random(n) < 0.5
        label[moves] = _most_frequent(owner, label[indices], label)[moves]
    _, group, size = np.unique(label, return_inverse=True, return_counts=True)
    place = np.empty(len(size), np.int64)
    place[np.lexsort((np.arange(len(size)), -size))] = np.arange(len(size))
    result: IntArray = place[group]
    return result


def _most_frequent(owner: IntArray, seen: IntArray, label: IntArray) -> IntArray:
    """For each account the label that most of its neighbours have; its own where it has none."""
    key, votes = np.unique(pair_keys(owner, seen, len(label)), return_counts=True)
    voter, choice = key // len(label), key % len(label)
    order = np.lexsort((-choice, votes, voter))  # the last row of an account is its winner
    winner = np.flatnonzero(np.diff(voter[order], append=-1))
    result = label.copy()
    result[voter[order][winner]] = choice[order][winner]
    return result
