"""PALE (Man, Shen, Liu, Jin, Cheng; IJCAI 2016) with its linear map: edge likelihood, then the shared phase 2.

Networks are extended first: an edge between two anchored accounts on one side becomes one on the other.
Vectors maximise Σ_edges log σ(u_i · u_j) + Σ_k log σ(-u_i · u_k), the map minimises Σ_anchors |φ(x) - y|^2.

Deviations: the map goes from right to left and has a bias and a ridge chosen on validation anchors, as for every
embedding method; edges and noise weigh alike and vectors have one length, as in MGCN's default (`config.mgcn`), of
which this is the first layer's input alone. Cost: `mgcn.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext, spawn_seeds
from kedge.embedding.network import sources
from kedge.linalg import VectorAlignment, row_index
from kedge.methods.shared.embedded import edge_vectors, one_hyperedge
from kedge.similarity import align_vectors
from kedge.types import FloatArray, IntArray, Network, Problem

_CHANGES = {"levels": "none", "dropout": 0.0, "release": 0}


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Both extended networks embedded, the right one projected into the left one's space (Eq. 11)."""
    left, right = embed(problem, config)
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])


def extend(problem: Problem) -> Problem:
    """The problem whose networks have each other's edges among anchored accounts."""
    mine, other = problem.anchors.T
    left = _with_edges(problem.left, mine, csr_array(problem.right.adjacency[other][:, other]))
    right = _with_edges(problem.right, other, csr_array(problem.left.adjacency[mine][:, mine]))
    return Problem(left, right, problem.anchors, problem.rejected)


def _with_edges(network: Network, anchored: IntArray, among: csr_array) -> Network:
    """The network with an edge between anchored accounts wherever `among` has one."""
    rows = row_index(among)
    ends = (anchored[rows], anchored[among.indices])
    added = csr_array((np.ones(len(rows), np.float32), ends), shape=network.adjacency.shape)
    return Network(csr_array(network.adjacency.maximum(added)), network.ids)


def embed(problem: Problem, config: Config) -> tuple[FloatArray, FloatArray]:
    """Left and right vectors of the extended networks, [n, d]."""
    left, right = (
        edge_vectors("pale", source, one_hyperedge(source.network), config, _CHANGES)
        for source in sources(extend(problem), config.seed)
    )
    return left, right
