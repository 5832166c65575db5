"""The paper's efficiency figure: the time of forward passes of GCN, HGNN and MGCN over growing networks."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from kedge.config import MgcnConfig, resolve
from kedge.context import peak_mb
from kedge.experiments.cells import File, Planting
from kedge.experiments.measure import Measured, load_network
from kedge.types import KedgeError, Network

MODELS = ("GCN", "HGNN", "MGCN")
_PASSES = 1_000  # the paper counts this many


@dataclass(frozen=True)
class Forward:
    """The forward passes to time: on the whole of a planted network, or on `accounts` of a given one."""

    network: File | Planting
    accounts: int
    dimensions: int = 200
    rounds: int = 7


def measure_forward(task: Forward) -> Measured:
    """CPU seconds of 1,000 forward passes of each model, from the least of several single ones."""
    import torch

    from kedge.context import reuse_freed_memory

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    reuse_freed_memory()
    network = load_network(task.network)
    if network.n < task.accounts:
        return Measured("refused", f"the network has only {network.n:,} accounts")
    if network.n > task.accounts:
        network = _near_part(network, task.accounts)
    seconds = time_models(network, task.dimensions, task.rounds)
    figures: dict[str, float | None] = {name: _PASSES * spent for name, spent in seconds.items()}
    return Measured("ok", "", figures, {"accounts": network.n, "edges": network.edges}, peak_mb=round(peak_mb(), 1))


def _near_part(network: Network, accounts: int) -> Network:
    """The accounts nearest to the one of highest degree, breadth first, and the edges among them."""
    hub = int(network.degrees.argmax())
    near = breadth_first_order(network.adjacency, hub, directed=False, return_predecessors=False)[:accounts]
    if len(near) < accounts:
        raise KedgeError(
            f"the network's largest part that hangs together has fewer than {accounts:,} accounts",
            remedy="give a connected one",
        )
    kept = np.sort(near)
    return Network(csr_array(network.adjacency[kept][:, kept]), network.ids.take(kept))


def time_models(network: Network, dimensions: int, rounds: int) -> dict[str, float]:
    """CPU seconds of one forward pass: the same d, K = 2 layers per level, ReLU, learned matrices, 32 accounts per
    hyperedge. GCN is Eq. 7, HGNN is Eq. 9 with D_e, MGCN is both levels (fusion `linear`)."""
    import torch

    from kedge.hypergraph import build_hypergraph
    from kedge.linalg.spmm import Sparse
    from kedge.mgcn.layers import convolve, normalise_adjacency
    from kedge.mgcn.model import Mgcn, prepare

    # Walks of three steps: hyperedges of the same size, built in a third of the time, which is not measured here.
    hypergraph = build_hypergraph(network, resolve(assignments=["hypergraph.hops=3"]).hypergraph)
    draws = torch.Generator().manual_seed(0)
    start = torch.randn((network.n, dimensions), generator=draws)
    A = Sparse.of(normalise_adjacency(network), symmetric=True)
    W = [torch.randn((dimensions, dimensions), generator=draws) for _ in range(2)]
    models: dict[str, Callable[[], object]] = {"GCN": lambda: convolve(A, convolve(A, start, W[0]), W[1])}
    for name, levels in (("HGNN", "hypergraph"), ("MGCN", "both")):
        settings = MgcnConfig.model_validate(
            {
                "dimensions": dimensions,
                "layers": 2,
                "levels": levels,
                "transform": True,
                "activation": "relu",
                "unit": False,
                "fusion": "linear",
                "gate": "fixed",
                "blend": 1,
            }
        )
        models[name] = Mgcn(prepare(network, hypergraph, settings), settings, start, draws)
    with torch.no_grad():
        return {name: _least(model, rounds) for name, model in models.items()}


def _least(run: Callable[[], object], rounds: int) -> float:
    """CPU seconds of the quickest of several runs; the first one warms up."""
    spent = []
    for _ in range(rounds + 1):
        before = time.process_time()
        run()
        spent.append(time.process_time() - before)
    return min(spent[1:])
