"""The paper's pair of sub-networks from one network (MGCN, KDD 2020, section "Datasets")."""

from __future__ import annotations

import numpy as np
from scipy.sparse import triu

from kedge.synthetic.measure import measure
from kedge.synthetic.pair import Planted, checked_number, checked_seed, shuffled_network
from kedge.types import KedgeError, Network


def expected_shares(alpha_s: float, alpha_c: float) -> tuple[float, float, float]:
    """The shares of edges that the printed rule gives to (the left, the right, both).

    With p uniform in [0, 1] and the printed thresholds
    t1 = 1 - 2 alpha_s + alpha_s alpha_c, t2 = 1 - alpha_s, t3 = 1 - alpha_s alpha_c:
    p <= t1 is discarded, t1 < p <= t2 is left only, t2 < p <= t3 right only, p > t3 both.
    Where t1 < 0, i.e. alpha_s (2 - alpha_c) > 1, the left gets 1 - alpha_s (1 - alpha_c) instead of alpha_s.
    """
    t1 = max(0.0, 1 - 2 * alpha_s + alpha_s * alpha_c)
    both = alpha_s * alpha_c
    return (1 - alpha_s) - t1 + both, alpha_s, both


def subnetworks(network: Network, alpha_s: float, alpha_c: float, seed: int) -> Planted:
    """Two sub-networks of one network by the paper's rule: one uniform draw p an undirected edge.

    alpha_s is the share of edges that a sub-network keeps, alpha_c the share of its edges that the other one
    has too; `expected_shares` holds the rule. A sub-network holds the accounts with at least one edge in it, so
    that what is written as an edge list reads back the same. The anchors are the accounts that both hold.
    Weights are kept. Accounts get a random order and random ids, drawn for each side by itself.
    """
    alpha_s, alpha_c = checked_number("alpha_s", alpha_s, 0, 1), checked_number("alpha_c", alpha_c, 0, 1)
    rng = checked_seed(seed)
    if network.edges == 0:
        raise KedgeError("the network has no edges to sample", remedy="give a network with edges")

    upper = triu(network.adjacency, k=1, format="coo")
    first, second = (np.asarray(ends) for ends in upper.coords)
    p = rng.random(len(first))
    t1, t2, t3 = 1 - 2 * alpha_s + alpha_s * alpha_c, 1 - alpha_s, 1 - alpha_s * alpha_c
    in_left = ((p > t1) & (p <= t2)) | (p > t3)
    in_right = p > t2

    sides = []
    for prefix, kept in (("a", in_left), ("b", in_right)):
        if not kept.any():
            raise KedgeError(
                f"the {'left' if prefix == 'a' else 'right'} sub-network got none of {network.edges} edges",
                remedy="raise alpha_s, lower alpha_c below 1 or give a larger network"
                if alpha_s < 1
                else "raise alpha_c above 0 or lower alpha_s below 1",
            )
        members = np.unique(np.concatenate([first[kept], second[kept]]))
        weights = np.asarray(upper.data[kept], np.float32)
        sides.append(shuffled_network(first[kept], second[kept], members, network.n, prefix, rng, weights))
    (left, left_account), (right, right_account) = sides

    shared = rng.permutation(np.flatnonzero((left_account >= 0) & (right_account >= 0)))
    anchors = np.column_stack([left_account[shared], right_account[shared]]).astype(np.int64)
    notes = [
        f"{network.n - side.n} of {network.n} accounts have no edge on the {name} and are not in it"
        for name, side in (("left", left), ("right", right))
        if side.n < network.n
    ]
    left_share, right_share, _ = expected_shares(alpha_s, alpha_c)
    if alpha_s * (2 - alpha_c) > 1 + 1e-12:
        notes.insert(
            0,
            f"alpha_s (2 - alpha_c) = {alpha_s * (2 - alpha_c):.3f} > 1: by the printed rule the sides get unequal "
            f"shares, {left_share:.3f} of the edges on the left and {right_share:.3f} on the right",
        )
    realised = measure(left, right, anchors) | {
        "left_share": left.edges / network.edges,
        "right_share": right.edges / network.edges,
    }
    return Planted(left, right, anchors, tuple(notes), realised)
