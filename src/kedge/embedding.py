"""Vectors of a network of any size: whole where it fits into one part, else cut, trained by parts and laid together.

The paper leaves the edges between parts unused. Here they pull at last: each account moves a little towards the mean of
its neighbours in other parts, the more the larger their share among its edges (`boundary_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, diags_array

from kedge.config import Config
from kedge.engine import make_engine
from kedge.errors import KedgeError
from kedge.partition import part_adjacency, partition
from kedge.reconcile.parts import PartVectors, reconcile_parts
from kedge.types import FloatArray, IntArray, Network, Parts

__all__ = ["NetworkVectors", "PartJob", "embed_network", "refine_boundary", "train_part"]


@dataclass(frozen=True)
class PartJob:
    """All that a worker needs to train one part."""

    adjacency: csr_array
    config: Config
    seed: int
    anchors: IntArray
    name: str


@dataclass(frozen=True)
class NetworkVectors:
    """Vectors [n, d] of a whole network, its parts, how well each part fits the others, and notes."""

    vectors: FloatArray
    parts: Parts
    residuals: FloatArray
    notes: tuple[str, ...]


def train_part(job: PartJob) -> FloatArray:
    """The vectors of one part (Eq. 1-10); runs in any process."""
    from kedge.mgcn import embed

    n = job.adjacency.shape[0]
    network = Network(job.adjacency, pa.array([str(i) for i in range(n)], pa.large_string()))
    fit = embed(network, job.config, job.seed, anchors=job.anchors)
    if fit.verdict == "collapsed":
        raise KedgeError(
            f"the embedding of {job.name} collapsed (loss {fit.losses[-1]:.3f}, trivial {fit.trivial:.3f})",
            remedy="use the default preset's mgcn.weighing, mgcn.unit and mgcn.skip",
        )
    return fit.vectors


def embed_network(
    network: Network,
    config: Config,
    seed: int,
    anchors: IntArray,
    name: str = "the network",
    progress: Callable[[int, int], None] | None = None,
    finished: Mapping[int, FloatArray] | None = None,
) -> NetworkVectors:
    """MGCN on a network of any size; `anchors` are its anchored accounts, `finished` parts are not trained again."""
    parts, notes = partition(network, config.partition, seed, anchors)
    if parts.count <= 1:
        job = PartJob(network.adjacency, config, seed, anchors, name)
        return NetworkVectors(train_part(job), parts, np.zeros(1), notes)
    cut = [part_adjacency(network, parts, p, config.partition) for p in range(parts.count)]
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(parts.count)]
    jobs = {
        p: PartJob(adjacency, config, seeds[p], np.flatnonzero(np.isin(accounts, anchors)), f"part {p} of {name}")
        for p, (accounts, adjacency) in enumerate(cut)
        if p not in (finished or {})
    }
    vectors = dict(finished or {})
    waiting = list(jobs)
    engine = make_engine(config.engine, _megabytes(cut, config))
    for place, result in engine.run(train_part, [jobs[p] for p in waiting]):
        vectors[waiting[place]] = result
        if progress is not None:
            progress(len(vectors), parts.count)
    learnt = [
        PartVectors(accounts, vectors[p], np.diff(adjacency.indptr)) for p, (accounts, adjacency) in enumerate(cut)
    ]
    laid = reconcile_parts(learnt, parts.part, parts.shared, config.partition.reconcile)
    refined = refine_boundary(network, parts.part, laid.vectors, config.partition.boundary_steps)
    return NetworkVectors(refined, parts, laid.residuals, (*notes, *laid.notes))


def _megabytes(cut: list[tuple[IntArray, csr_array]], config: Config) -> float:
    """What training the largest part needs: a few copies of its vectors and of a pool of scores, and its edges."""
    accounts = max(len(part) for part, _ in cut)
    edges = max(adjacency.nnz for _, adjacency in cut)
    return (accounts * (12 * config.mgcn.dimensions + 2 * config.mgcn.pool) * 4 + edges * 40) / 1e6


def refine_boundary(network: Network, part: IntArray, X: FloatArray, steps: int) -> FloatArray:
    """x_v <- (1 - λ_v) x_v + λ_v · mean of x over v's neighbours in other parts, λ_v = half their share; repeated."""
    if steps == 0 or len(part) == 0 or part.max() == 0:
        return X
    adjacency = network.adjacency
    rows = np.repeat(np.arange(network.n), network.degrees)
    outside = part[rows] != part[adjacency.indices]
    ends = (rows[outside], adjacency.indices[outside])
    crossing = csr_array((np.ones(len(ends[0]), np.float32), ends), shape=adjacency.shape)
    count = np.diff(crossing.indptr)
    pull = 0.5 * count / np.maximum(network.degrees, 1)
    mean = diags_array((1 / np.maximum(count, 1)).astype(np.float32)) @ crossing
    for _ in range(steps):
        X = ((1 - pull)[:, None] * X + pull[:, None] * (mean @ X)).astype(np.float32)
    return X
