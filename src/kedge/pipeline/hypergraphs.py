"""A user's own hyperedges, of one network or of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config, ReadConfig
from kedge.context import Progress
from kedge.ingest import read_hypergraph
from kedge.methods import METHODS, Method, find_method
from kedge.types import Hypergraph, KedgeError, Network, Problem

HYPERGRAPHS: Final = ("left hypergraph", "right hypergraph")  # what they are called among a run's inputs


def own_hypergraph(source: Any, network: Network, config: ReadConfig, isolated: int = 0) -> Hypergraph:
    """A hypergraph of this network: a path or frame of account, hyperedge and p, or a matrix with a row per account.

    The last `isolated` accounts are known from anchors alone: a matrix has no rows for them.
    """
    centres = None
    if isinstance(source, Hypergraph):
        source, centres = source.H, source.centres
    if not (hasattr(source, "tocsr") or type(source).__module__ == "numpy"):
        return read_hypergraph(source, network, config)
    from kedge.hypergraph import accept

    H = accept(source, network.n - isolated).H
    longer = np.append(H.indptr, np.full(isolated, H.nnz, H.indptr.dtype))
    return Hypergraph(csr_array((H.data, H.indices, longer), shape=(network.n, H.shape[1])), centres)


def refuse_unused_hypergraphs(sources: Sequence[Any | None], method: Method) -> None:
    """A method that does not read hyperedges would take the user's own without effect and without a note."""
    if method.reads_hypergraphs or all(source is None for source in sources):
        return
    *most, last = (other.name for other in METHODS.values() if other.reads_hypergraphs)
    raise KedgeError(
        f"the method {method.name!r} has no use for a hypergraph",
        remedy=f"leave it out, or choose the method {', '.join(most)} or {last}",
    )


def with_hypergraphs(
    problem: Problem, read: tuple[Network, Network], sources: Sequence[Any | None], config: Config, progress: Progress
) -> Problem:
    """The problem with the hypergraphs that the user gave; `read` are the networks without accounts of anchors only."""
    found: list[Hypergraph | None] = []
    networks = (problem.left, problem.right)
    for source, name, network, before in zip(sources, HYPERGRAPHS, networks, read, strict=True):
        if source is None:
            found.append(None)
            continue
        progress.stage(f"reading the {name}")
        found.append(own_hypergraph(source, network, config.read, network.n - before.n))
    return replace(problem, hypergraphs=(found[0], found[1]))


def note_unused(problem: Problem, config: Config, progress: Progress) -> None:
    """A note where the chosen settings train no vectors, and so make no use of hyperedges that the user gave."""
    given = any(own is not None for own in problem.hypergraphs)
    method = find_method(config.method)
    if given and method.trains and not method.trains_vectors(config):
        progress.note("the hypergraph is not used: --set pairing.use=yes --set pairing.vectors=mgcn makes use of it")
