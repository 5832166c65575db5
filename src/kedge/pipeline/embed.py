"""Vectors of one network by MGCN, or of two in one space, the same from Python and from the command line."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kedge.config import Config
from kedge.context import RunContext, need_extra
from kedge.embedding.network import NetworkVectors, embed_network
from kedge.embedding.plan import Source, check_features
from kedge.engine import check_engine
from kedge.hypergraph import DegenerateHypergraphWarning
from kedge.ingest import read_hypergraph, read_network, read_profiles
from kedge.linalg import canonical_network, renumber_hypergraph, renumber_network, sort_hyperedges
from kedge.methods import find_method
from kedge.pipeline.inputs import Inputs, read_problem, reading_notes
from kedge.pipeline.profiles import draws_from_profiles, refuse_no_profiles
from kedge.profiles import shared_values
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network, Parts, Problem


@dataclass(frozen=True)
class Embedded:
    """The ids of a network's accounts and their vectors, row by row; `fit` is what is known of the training."""

    ids: pa.Array
    fit: NetworkVectors
    edges: int = 0

    @property
    def vectors(self) -> FloatArray:
        """float32 [n, d]."""
        return self.fit.vectors


def embed(
    source: Any,
    config: Config,
    context: RunContext,
    *,
    hypergraph: Any = None,
    features: Any = None,
    profiles: Any = None,
    name: str = "the network",
) -> Embedded:
    """Read a network and train its vectors; one larger than `partition.n_max` is trained by parts.

    `hypergraph`: hyperedges of the user's own in place of the built ones. `features` [n, f] are needed for
    `mgcn.start = "given"`, `profiles` for `hypergraph.builders = "profiles"`.
    """
    need_extra("mgcn", "training vectors")
    check_engine(config.engine)
    context.progress.stage(f"reading {name}")
    network = source if isinstance(source, Network) else _read(source, config, context, name)
    # Trained under canonical numbers, returned in the order of the file.
    order = canonical_network(network)
    own = None if hypergraph is None else read_hypergraph(hypergraph, network, config.read)
    own = None if own is None else renumber_hypergraph(own, order)
    given = None if features is None else check_features(features, network.n)[order]
    values = None
    if own is None and draws_from_profiles(config, profiles is not None):
        values = _shared(profiles, network, order, config, context)
    elif profiles is not None:
        context.progress.note("profiles are not used: --set hypergraph.builders=neighbourhood+profiles uses them")
    context.progress.stage("training")
    with warnings.catch_warnings():  # noted when it is known, before the long training, not after it
        warnings.simplefilter("default", DegenerateHypergraphWarning)
        warnings.showwarning = lambda message, *_: context.progress.note(f"warning: {message}")
        no_anchors = np.empty(0, np.int64)
        numbered = renumber_network(network, order)
        known = Source(numbered, no_anchors, config.seed, name, own, given, values)
        fit = embed_network(known, config, context)
    place = np.argsort(order)
    parts = Parts(fit.parts.part[place], order[fit.parts.shared])
    return Embedded(network.ids, replace(fit, vectors=fit.vectors[place], parts=parts), network.edges)


@dataclass(frozen=True)
class EmbeddedPair:
    """Two networks in one space: unit vectors of both, row by row in the order of the ids of `problem`.

    `training` is what a method that trains has to report: curves, steps, weights of levels.
    """

    problem: Problem
    left: FloatArray
    right: FloatArray
    training: Mapping[str, Any]


def embed_pair(inputs: Inputs, config: Config, context: RunContext) -> EmbeddedPair:
    """Vectors of both networks by the method `mgcn`, in the space in which it compares them by their cosines."""
    config = config.model_copy(update={"method": "mgcn"})
    method = find_method(config.method)
    problem = read_problem(inputs, config, context.progress)
    if len(problem.anchors) == 0:
        raise KedgeError("no anchors to bring two networks into one space", remedy="give at least one known pair")
    context.progress.stage("training")
    known = method.prepare(problem, config, context) if method.trains_vectors(config) else {}
    made = method.align(problem, config, context).arrays()
    left, right = (made[side] if side in made else made[f"vectors_{side}"] for side in ("left", "right"))
    return EmbeddedPair(problem, left, right, known.get("training", {}))


def _shared(profiles: Any, network: Network, order: IntArray, config: Config, context: RunContext) -> Hypergraph:
    """Which accounts have a value in common, under canonical numbers."""
    if profiles is None:
        refuse_no_profiles("--profiles")
    context.progress.stage("reading the profiles")
    known, report = read_profiles(profiles, network, config.read, config.profiles.ids)
    for note in report.notes("the", network.n):
        context.progress.note(note)
    found = shared_values(known, known, config.profiles, config.hypergraph.largest)[0]
    return sort_hyperedges(renumber_hypergraph(found, order))


def _read(source: Any, config: Config, context: RunContext, name: str) -> Network:
    network, report = read_network(source, config.read)
    for note in reading_notes(name, report):
        context.progress.note(note)
    return network
