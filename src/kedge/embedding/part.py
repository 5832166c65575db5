"""One part: what a worker needs to train it, the result, and the key under which the result is cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.config import Config, MgcnConfig
from kedge.context import CacheEntry, digest, one_thread
from kedge.embedding.states import PartStates
from kedge.types import FloatArray, Hypergraph, IntArray, Network

# What a part needs at its peak, fitted to benchmarks/part_cost.py: float32 copies of [n, d] and of [n, pool], and bytes
# for each member of a hyperedge and for each entry of the adjacency.
_STATE: Final = 20
_POOLS: Final = 4
_MEMBER_BYTES: Final = 200
_ENTRY_BYTES: Final = 250


@dataclass(frozen=True)
class PartJob:
    """All that a worker needs to train one part; `anchors` is empty where no hypergraph uses anchors."""

    adjacency: csr_array
    config: Config
    seed: int
    anchors: IntArray
    name: str
    hypergraph: Hypergraph | None = None  # the user's own, in place of one drawn from the edges
    first: FloatArray | None = None  # X^0 in the whole network's coordinates, in place of a random one
    features: FloatArray | None = None  # [n, f], for `mgcn.start = given`
    shared_values: Hypergraph | None = None  # which accounts have a value of profiles in common
    states: PartStates | None = None  # where the state of the training is saved now and then


@dataclass(frozen=True)
class PartFit:
    """Vectors of one part and how its training went; a collapsed part has learnt nothing, so its vectors are 0."""

    vectors: FloatArray
    losses: FloatArray
    trivial: float
    auc: float | None
    steps: int
    collapsed: bool = False
    hyperedges: Mapping[str, Any] | None = None  # how many, how large, how much memory: see kedge.hypergraph.Report
    levels: tuple[float, float] | None = None  # the share of the simple and of the hypergraph level's output passed on

    def cache_entry(self) -> CacheEntry:
        """As it is cached."""
        facts: dict[str, Any] = {
            name: getattr(self, name) for name in ("trivial", "auc", "steps", "collapsed", "levels")
        }
        facts["hyperedges"] = None if self.hyperedges is None else dict(self.hyperedges)
        return CacheEntry({"vectors": self.vectors, "losses": self.losses}, facts)

    @staticmethod
    def from_entry(entry: CacheEntry) -> PartFit:
        """As it was cached."""
        return PartFit(entry.arrays["vectors"], entry.arrays["losses"], **entry.facts)


def key_of(job: PartJob) -> str:
    """The content of a job: settings, seed, edges, anchors and first vectors; not its name, nor where it runs or saves
    its state."""
    stages = (job.config.mgcn, job.config.hypergraph)
    settings = ["part", *(stage.model_dump(mode="json") for stage in stages), job.seed]
    A = job.adjacency
    given = [array for array in (job.first, job.features) if array is not None]
    drawn = (*hyperedges(job.hypergraph), *hyperedges(job.shared_values))
    return digest(settings, A.indptr, A.indices, A.data, job.anchors, *drawn, *given)


def hyperedges(own: Hypergraph | None) -> tuple[NDArray[Any], ...]:
    """The arrays of a user's own hypergraph, as far as a result depends on it."""
    if own is None:
        return ()
    centres = () if own.centres is None else (np.asarray(own.centres),)
    return (own.H.indptr, own.H.indices, own.H.data, *centres)


def megabytes(job: PartJob) -> float:
    """Roughly the memory that training a part needs beyond an idle process (measured by benchmarks/part_cost.py)."""
    n, mgcn = job.adjacency.shape[0], job.config.mgcn
    dense = 4 * n * (_STATE * mgcn.dimensions + _POOLS * mgcn.pool)
    drawn = job.config.hypergraph.each()
    sizes = [own.similar if name == "nearest" else own.nearest for name, own in drawn if name != "profiles"]
    members = n * max(sum(sizes), 8) + (job.shared_values.H.nnz if job.shared_values else 0)
    return (dense + _MEMBER_BYTES * members + _ENTRY_BYTES * job.adjacency.nnz) / 1e6


def train_part(job: PartJob) -> PartFit:
    """The vectors of one part among many (Eq. 1-10); runs in any process, with one thread: parts share the cores."""
    with one_thread():
        return train_alone(job)


def train_alone(job: PartJob, progress: Callable[[int, float, float], None] | None = None) -> PartFit:
    """The vectors of a part, on one thread where it is small, else on those that torch has."""
    from kedge.mgcn import embed

    n = job.adjacency.shape[0]
    network = Network(job.adjacency, pa.array([str(i) for i in range(n)], pa.large_string()))
    fit = embed(
        network,
        job.config,
        job.seed,
        progress,
        anchors=job.anchors,
        hypergraph=job.hypergraph,
        X0=job.first,
        features=job.features,
        shared_values=job.shared_values,
        checkpoint=job.states,
    )
    collapsed = fit.verdict == "collapsed"
    vectors = np.zeros_like(fit.vectors) if collapsed else fit.vectors
    figures = None if fit.hypergraph is None else asdict(fit.hypergraph)
    levels = None if fit.verdict == "nothing to learn" else fit.gates or fixed_shares(job.config.mgcn)
    return PartFit(vectors, fit.losses, fit.trivial, fit.auc, fit.steps, collapsed, figures, levels)


def fixed_shares(settings: MgcnConfig) -> tuple[float, float]:
    """What each level passes on where that is not learned; 0 for a level that is not there."""
    simple = 1.0 if settings.levels in ("both", "simple") else 0.0
    return simple, settings.blend if settings.levels in ("both", "hypergraph") else 0.0
