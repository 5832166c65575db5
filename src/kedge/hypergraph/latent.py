"""Latent hypergraphs: an autoencoder's codes as hyperedges (the paper's fourth construction)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.types import FloatArray, Hypergraph, IntArray, Network


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """Each of `codes` dimensions of an autoencoder is a hyperedge, n × codes; p(v, e) is v's code, in (0, 1).

    Codes are never quite 0, so the letter gives a full matrix; `active` keeps the strongest few of each account.
    """
    from kedge.hypergraph.autoencoder import encode

    del anchors, shared_values
    return Hypergraph(keep_strongest(encode(network, config.codes, config.latent_steps, seed), config.active))


def keep_strongest(codes: FloatArray, active: int) -> csr_array:
    """The `active` largest entries of each row, equal ones by their column; 0 keeps every entry."""
    if active == 0 or active >= codes.shape[1]:
        return csr_array(codes)
    columns = np.argsort(-codes, axis=1, kind="stable")[:, :active]
    rows = np.repeat(np.arange(len(codes)), active)
    return csr_array((np.take_along_axis(codes, columns, 1).ravel(), (rows, columns.ravel())), shape=codes.shape)
