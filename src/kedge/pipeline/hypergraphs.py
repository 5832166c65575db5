"""A user's own hyperedges, of one network or of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config, ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import read_hypergraph
from kedge.methods import HYPERGRAPHED, trains
from kedge.pipeline.solution import Inputs
from kedge.progress import Progress
from kedge.types import Hypergraph, Network, Problem

__all__ = ["HYPERGRAPHS", "own_hypergraph", "refuse_idle_hypergraphs", "tell_unused", "with_hypergraphs"]

HYPERGRAPHS: Final = ("left hypergraph", "right hypergraph")  # what they are called among a run's inputs


def own_hypergraph(source: Any, network: Network, config: ReadConfig, lonely: int = 0) -> Hypergraph:
    """A hypergraph of this network: a path or a frame of account, hyperedge and p, or a matrix with a row an account.

    The last `lonely` accounts are known from anchors alone: a matrix has no rows for them.
    """
    centres = None
    if isinstance(source, Hypergraph):
        source, centres = source.H, source.centres
    if not (hasattr(source, "tocsr") or type(source).__module__ == "numpy"):
        return read_hypergraph(source, network, config)
    from kedge.hypergraph import accept

    H = accept(source, network.n - lonely).H
    longer = np.append(H.indptr, np.full(lonely, H.nnz, H.indptr.dtype))
    return Hypergraph(csr_array((H.data, H.indices, longer), shape=(network.n, H.shape[1])), centres)


def refuse_idle_hypergraphs(inputs: Inputs, config: Config) -> None:
    """A method that never looks at hyperedges would take somebody's own without a word and without effect."""
    given = any(source is not None for source in inputs.hypergraphs)
    if given and config.method not in HYPERGRAPHED:
        raise KedgeError(
            f"the method {config.method!r} has no use for a hypergraph",
            remedy=f"leave it out, or choose the method {', '.join(HYPERGRAPHED[:-1])} or {HYPERGRAPHED[-1]}",
        )


def with_hypergraphs(
    problem: Problem, read: tuple[Network, Network], inputs: Inputs, config: Config, progress: Progress
) -> Problem:
    """The problem with the hypergraphs that the user gave; `read` are the networks without accounts of anchors only."""
    found: list[Hypergraph | None] = []
    networks = (problem.left, problem.right)
    for source, name, network, before in zip(inputs.hypergraphs, HYPERGRAPHS, networks, read, strict=True):
        if source is None:
            found.append(None)
            continue
        progress.stage(f"reading the {name}")
        found.append(own_hypergraph(source, network, config.read, network.n - before.n))
    return replace(problem, hypergraphs=(found[0], found[1]))


def tell_unused(problem: Problem, config: Config, progress: Progress) -> None:
    """Say it where the settled method trains no vectors, and so does without hyperedges."""
    given = any(own is not None for own in problem.hypergraphs)
    if given and config.method == "kedge" and not trains(config):
        progress.note("the hypergraph is not used: --set pairing.use=yes --set pairing.vectors=mgcn makes use of it")
