"""Take accounts out of what was computed about them. Numbers stay, so that everything else still fits together.

A forgotten account keeps its place but has no edges, no anchor, no candidates, no vector, and a name without meaning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.linalg import without_entries
from kedge.types import BoolArray, Hypergraph, IntArray, Network, Problem

_NAME: Final = "[forgotten {}]"
Forgotten = tuple[IntArray, IntArray]  # the accounts of the left and of the right network


def forget_accounts(problem: Problem, forgotten: Forgotten) -> Problem:
    """The problem without these accounts' edges, names, anchors, rejected pairs and memberships."""
    return replace(
        problem,
        left=_blanked(problem.left, forgotten[0]),
        right=_blanked(problem.right, forgotten[1]),
        anchors=without_pairs(problem.anchors, forgotten),
        rejected=without_pairs(problem.rejected, forgotten),
        hypergraphs=(
            _after_leaving(problem.hypergraphs[0], forgotten[0]),
            _after_leaving(problem.hypergraphs[1], forgotten[1]),
        ),
    )


def _after_leaving(hypergraph: Hypergraph | None, accounts: IntArray) -> Hypergraph | None:
    """The hypergraph after these accounts have left all its hyperedges."""
    if hypergraph is None:
        return None
    return Hypergraph(without_entries(hypergraph.H, accounts, np.empty(0, np.int64)), hypergraph.centres)


def _blanked(network: Network, accounts: IntArray) -> Network:
    if len(accounts) == 0:
        return network
    adjacency = without_entries(network.adjacency, accounts, accounts)
    mask = np.zeros(network.n, bool)
    mask[accounts] = True
    names = pa.array([_placeholder(network, int(account)) for account in np.flatnonzero(mask)], pa.large_string())
    return Network(adjacency, pc.replace_with_mask(network.ids.cast(pa.large_string()), pa.array(mask), names))


def _placeholder(network: Network, account: int) -> str:
    """A name for a forgotten account that no other account has."""
    name = _NAME.format(account)
    while network.find([name])[0] not in (-1, account):
        name += "'"
    return name


def without_pairs(pairs: IntArray, forgotten: Forgotten) -> IntArray:
    """The pairs [m, 2] in which none of these accounts stands."""
    return pairs[~(np.isin(pairs[:, 0], forgotten[0]) | np.isin(pairs[:, 1], forgotten[1]))]


def is_forgotten(network: Network) -> BoolArray:
    """Which accounts have a name without meaning in place of their own, [n]."""
    mask = np.zeros(network.n, bool)
    for account in np.flatnonzero(network.degrees == 0).tolist():
        mask[account] = network.name(account).rstrip("'") == _NAME.format(account)
    return mask
