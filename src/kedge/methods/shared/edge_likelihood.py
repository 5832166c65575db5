"""Vectors by the objective of Eq. 10, for the methods that differ from MGCN only in what convolves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.embedding.both import train_for_matching
from kedge.embedding.plan import Source
from kedge.mgcn import embed
from kedge.types import FloatArray, Hypergraph, KedgeError, Network


def edge_vectors(
    method: str, source: Source, hypergraph: Hypergraph, config: Config, changes: dict[str, Any]
) -> FloatArray:
    """Vectors [n, d] of one network trained by the settings of `config.mgcn`, but for `changes`.

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    settings = {**train_for_matching(config).mgcn.model_dump(), "dimensions": config.baselines.dimensions, **changes}
    changed = config.model_copy(update={"mgcn": type(config.mgcn).model_validate(settings)})
    fit = embed(source.network, changed, source.seed, hypergraph=hypergraph)
    if fit.verdict == "collapsed":
        raise KedgeError(
            f"{method}'s embedding of {source.name} collapsed (loss {fit.losses[-1]:.3f}, trivial {fit.trivial:.3f})",
            remedy="use the default preset's mgcn.weighing and mgcn.unit",
        )
    fit.vectors[source.network.degrees == 0] = 0  # no edge has trained it
    return fit.vectors


def one_hyperedge(network: Network) -> Hypergraph:
    """One hyperedge with all accounts."""
    return Hypergraph(csr_array(np.ones((network.n, 1), np.float32)))
