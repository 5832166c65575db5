"""One training step of MGCN against a plain torch transcription of the same step, in the same run.

    python benchmarks/mgcn_step.py
    python benchmarks/mgcn_step.py --adam       # kedge's Adam against torch's, and what loading torch's costs
    OMP_WAIT_POLICY=PASSIVE python benchmarks/mgcn_step.py --threads    # wall time of a step on one and on two threads

A part of 15,000 accounts and 200,000 edges, 32 accounts a hyperedge, d = 200. The transcription uses torch.sparse
products and gathers M noise accounts for both ends of each edge; it hides no edges. Both steps are forward, backward
and Adam. Each runs in a process of its own for its peak memory; CPU seconds are the mean of several steps after a
first one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import measuring
import numpy as np
import torch
from scipy.sparse import csr_array
from torch.nn.functional import normalize

from kedge.config import MgcnConfig, resolve
from kedge.context.machine import peak_mb, resident_mb, reuse_freed_memory
from kedge.hypergraph import build_hypergraph
from kedge.linalg.spmm import Sparse
from kedge.mgcn.adam import Adam
from kedge.mgcn.edge_dropout import draw_kept
from kedge.mgcn.fusion import Block
from kedge.mgcn.holdout import list_edges
from kedge.mgcn.layers import ACTIVATIONS, factor_theta, normalise_adjacency
from kedge.mgcn.model import Mgcn, prepare
from kedge.mgcn.objective import Edges, Sample, edge_loss, noise_distribution, noise_weight, pooled_loss, sampled_loss
from kedge.mgcn.row_ops import drop, unit_rows
from kedge.types import Hypergraph, Network

VARIANTS = {
    "default": ["mgcn.dimensions=200"],
    "linear": ["mgcn.dimensions=200", "mgcn.transform=true", "mgcn.layers=2", "mgcn.activation=tanh"],
    "sum": ["mgcn.dimensions=200", "mgcn.transform=true", "mgcn.layers=2", "mgcn.activation=relu", "mgcn.fusion=sum"],
}


def make_part(n: int, edges: int, seed: int = 0) -> Network:
    """A social-like part: circles of 60 with many edges inside, and hubs by a power law outside."""
    rng = np.random.default_rng(seed)
    circle = rng.integers(0, n // 60, n)
    order = np.argsort(circle, kind="stable")
    start = np.searchsorted(circle[order], circle)
    size = np.bincount(circle)[circle]
    weight = rng.pareto(1.5, n) + 1
    inside = rng.choice(n, 3 * edges // 4, p=weight / weight.sum())
    near = order[start[inside] + (rng.random(len(inside)) * size[inside]).astype(int)]
    outside = rng.choice(n, (edges, 2), p=weight / weight.sum())
    pairs = np.concatenate([np.stack([inside, near], 1), outside])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return Network.from_edges(pairs[rng.permutation(len(pairs))[:edges]], n)


def plain_matrix(matrix: csr_array) -> torch.Tensor:
    rows = csr_array(matrix)
    return torch.sparse_csr_tensor(
        torch.from_numpy(rows.indptr.astype(np.int64)),
        torch.from_numpy(rows.indices.astype(np.int64)),
        torch.from_numpy(rows.data.astype(np.float32)),
        rows.shape,
    ).to_sparse_coo()


class Plain:
    """The same model and objective, as one would write them down: torch.sparse, autograd, gathered negatives."""

    def __init__(self, network: Network, model: Mgcn, settings: MgcnConfig, hypergraph: Hypergraph) -> None:
        self.model, self.settings = model, settings
        H = hypergraph.H
        if settings.share:
            H = csr_array(H.multiply(1 / np.sqrt(H.multiply(H).sum(axis=1))[:, None]))
        A_hat = normalise_adjacency(network)
        if settings.fusion == "linear" and settings.reweigh:
            weighed = csr_array(network.adjacency.multiply(hypergraph.H @ hypergraph.H.T))
            self.local = plain_matrix(normalise_adjacency(Network(weighed, network.ids)))
        elif settings.fusion == "linear":
            self.local = plain_matrix(A_hat.multiply(H @ H.T))
        else:
            members = csr_array(H.T.tocsr())
            rows = np.repeat(np.arange(network.n), np.diff(H.indptr))
            local = A_hat[rows].multiply(members[H.indices]).multiply(H.data[:, None])
            self.local = plain_matrix(csr_array(local))
            self.sums = plain_matrix(
                csr_array((np.ones(len(rows), np.float32), (rows, np.arange(len(rows)))), (network.n, len(rows)))
            )
        G = factor_theta(hypergraph, settings.theta).forward
        scipy_G = csr_array((G.values.numpy(), G.indices.numpy(), G.offsets.numpy()), shape=H.shape)
        self.G, self.G_t = plain_matrix(scipy_G), plain_matrix(csr_array(scipy_G.T.tocsr()))
        self.pairs, self.noise = torch.from_numpy(list_edges(network)), noise_distribution(network)

    def hand_on(self, level: int, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        """A level's input and output mixed, by its gate or as fixed."""
        if self.settings.gate == "fixed":
            return Y if level == 0 else torch.lerp(X, Y, self.settings.blend)
        g = torch.sigmoid(self.model.gates[level, 0] + self.model.gates[level, 1] * self.model.operators.standing)
        return (1 - g) * X + g * Y

    def loss(self, draws: torch.Generator) -> torch.Tensor:
        """One step's loss, with fresh noise for both ends of each edge."""
        model, settings = self.model, self.settings
        act = ACTIVATIONS[settings.activation]
        X = model.X0
        for k in range(settings.layers):
            Y = act(torch.sparse.mm(self.local, X @ model.W[k] if settings.transform else X))
            if settings.fusion == "sum":
                Y = torch.sparse.mm(self.sums, Y)
            Y = Y @ model.F[k] if settings.transform else Y
            X = self.hand_on(0, X, X + Y if settings.skip else Y)
        for k in range(settings.layers):
            Y = X @ model.W_h[k] if settings.transform else X
            Y = act(torch.sparse.mm(self.G, torch.sparse.mm(self.G_t, Y)))
            X = self.hand_on(1, X, X + Y if settings.skip else Y)
        X = torch.nn.functional.dropout(X, settings.dropout)
        X = normalize(X) * torch.exp(model.log_length / 2) if settings.unit else X
        M = settings.negatives
        noise = torch.multinomial(self.noise, len(self.pairs) * 2 * M, replacement=True, generator=draws)
        return sampled_loss(X, model.bias, self.pairs, noise.reshape(-1, 2, M), noise_weight(settings))


def time_steps(kind: str, variant: str, n: int, edges: int, steps: int) -> dict[str, float]:
    """CPU seconds a step and the process's peak memory, of `fast` or `plain`."""
    torch.set_num_threads(1)
    network = make_part(n, edges)
    config = resolve(assignments=VARIANTS[variant])
    settings = config.mgcn
    hypergraph = build_hypergraph(network, config.hypergraph)
    draws, drops = torch.Generator().manual_seed(0), torch.Generator().manual_seed(1)
    start = torch.randn((n, settings.dimensions), generator=draws) / settings.dimensions**0.5
    before = time.process_time()
    if kind == "fast":
        reuse_freed_memory()
        model = Mgcn(prepare(network, hypergraph, settings), settings, start, draws)
        table, noise = Edges.of(network), noise_distribution(network)

        def loss() -> torch.Tensor:
            pool = torch.multinomial(noise, settings.pool, replacement=True, generator=draws)
            kept = draw_kept(table.count, settings, drops)
            sample = Sample(pool, noise_weight(settings), None if kept is None else 1 - kept[:-1])
            return pooled_loss(model(drops, kept), model.bias, table, sample)
    else:
        empty = prepare(network, hypergraph, settings.model_copy(update={"levels": "none"}))
        model = Mgcn(empty, settings, start, draws)
        plain = Plain(network, model, settings, hypergraph)

        def loss() -> torch.Tensor:
            return plain.loss(draws)

    prepared = time.process_time() - before
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = Adam(parameters, 0.01) if kind == "fast" else torch.optim.Adam(parameters, lr=0.01)
    spent: dict[str, float] = {"forward": 0.0, "backward": 0.0, "adam": 0.0}
    for step in range(steps + 1):
        marks = [time.process_time()]
        value = loss()
        marks.append(time.process_time())
        value.backward()
        marks.append(time.process_time())
        optimiser.step()
        if isinstance(optimiser, torch.optim.Adam):
            optimiser.zero_grad()
        marks.append(time.process_time())
        if step:
            for name, a, b in zip(spent, marks, marks[1:], strict=False):
                spent[name] += (b - a) / steps
    total, peak = sum(spent.values()), peak_mb()  # before the components, which no training runs
    if kind == "fast":
        spent |= time_components(model, table, settings, draws, drops)
    return {**spent, "step": total, "prepare": prepared, "peak": peak, "loss": value.item()}


def time_components(
    model: Mgcn, edges: Edges, settings: MgcnConfig, draws: torch.Generator, drops: torch.Generator
) -> dict[str, float]:
    """CPU seconds of each component alone, forward and backward, under names that begin with a colon."""
    whole = model.config

    def run_levels(levels: str) -> torch.Tensor:
        model.config = whole.model_copy(update={"levels": levels, "dropout": 0.0, "unit": False})
        return model(kept=draw_kept(edges.count, settings, drops)).sum()

    X = model().detach().requires_grad_()
    pool = torch.randint(0, len(X), (settings.pool,), generator=draws)

    def lose_noise() -> torch.Tensor:
        return pooled_loss(X, model.bias, edges, Sample(pool)) - edge_loss(X, model.bias, edges)

    parts = {
        ":simple level": lambda: run_levels("simple"),
        ":hypergraph level": lambda: run_levels("hypergraph"),
        ":edges' loss": lambda: edge_loss(X, model.bias, edges),
        ":edges' and noise's loss": lose_noise,
        ":dropout": lambda: drop(model.X0, settings.dropout, drops).sum(),
        ":unit rows": lambda: unit_rows(X, model.log_length).sum(),
    }
    found = {}
    for name, run in parts.items():
        for _ in range(2):  # the first one warms up
            before = time.process_time()
            run().backward()
            found[name] = time.process_time() - before
    model.config = whole
    found[":noise's loss"] = found.pop(":edges' and noise's loss") - 2 * found[":edges' loss"]
    return found


def compare_adam(n: int, steps: int = 40) -> None:
    """CPU milliseconds per step of kedge's Adam and of torch's, in turn; CPU seconds and MB of torch's first use."""
    torch.set_num_threads(1)
    before, held = time.process_time(), resident_mb()
    loading = torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    loading.param_groups[0]["params"][0].grad = torch.zeros(1)
    loading.step()
    print(f"first use of torch.optim: {time.process_time() - before:.1f} CPU s, {resident_mb() - held:.0f} MB")
    for d in (128, 200):
        gradient = torch.randn((n, d), generator=torch.Generator().manual_seed(0))
        makers: dict[str, Callable[[list[torch.Tensor]], Any]] = {
            "kedge": lambda p: Adam(p, 0.05),
            "torch, fused": lambda p: torch.optim.Adam(p, lr=0.05, fused=True),
            "torch, default": lambda p: torch.optim.Adam(p, lr=0.05),
        }
        parameters = {name: torch.zeros((n, d), requires_grad=True) for name in makers}
        optimisers = {name: make([parameters[name]]) for name, make in makers.items()}
        spent: dict[str, list[float]] = {name: [] for name in makers}
        for _ in range(steps):
            for name, optimiser in optimisers.items():
                parameters[name].grad = gradient.clone()
                before = time.process_time()
                optimiser.step()
                spent[name].append(time.process_time() - before)
        medians = ", ".join(f"{name} {1000 * np.median(times):.2f} ms" for name, times in spent.items())
        print(f"{n:,} accounts, {d} dimensions, median of {steps} steps: {medians}", flush=True)


def compare_threads(sizes: tuple[int, ...] = (500, 1000, 2000, 4000, 15000), steps: int = 12) -> None:
    """Wall and CPU milliseconds of a training step on one and on two threads, in turn, d = 128."""
    config = resolve()
    reuse_freed_memory()
    for n in sizes:
        network = make_part(n, 13 * n)
        draws, drops = torch.Generator().manual_seed(0), torch.Generator().manual_seed(1)
        settings, table, noise = config.mgcn, Edges.of(network), noise_distribution(network)
        start = torch.randn((n, settings.dimensions), generator=draws) / settings.dimensions**0.5
        model = Mgcn(prepare(network, build_hypergraph(network, config.hypergraph), settings), settings, start, draws)
        optimiser = Adam([p for p in model.parameters() if p.requires_grad], settings.learning_rate)
        spent: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
        for _ in range(steps):
            for threads, times in spent.items():
                torch.set_num_threads(threads)
                before = time.perf_counter(), time.process_time()
                pool = torch.multinomial(noise, settings.pool, replacement=True, generator=draws)
                kept = draw_kept(table.count, settings, drops)
                sample = Sample(pool, noise_weight(settings), None if kept is None else 1 - kept[:-1])
                pooled_loss(model(drops, kept), model.bias, table, sample).backward()
                optimiser.step()
                times.append((time.perf_counter() - before[0], time.process_time() - before[1]))
        medians = {t: 1000 * np.median(np.array(times[2:]), axis=0) for t, times in spent.items()}
        print(
            f"{n:6,} accounts: wall {medians[1][0]:.0f} ms on one thread, {medians[2][0]:.0f} on two, "
            f"CPU {medians[1][1]:.0f} and {medians[2][1]:.0f} ms",
            flush=True,
        )


def count_gflop(variant: str, n: int, edges: int) -> tuple[float, float]:
    """GFLOP of dense and of sparse products in one step, forward and backward."""
    network = make_part(n, edges)
    config = resolve(assignments=VARIANTS[variant])
    settings, d = config.mgcn, config.mgcn.dimensions
    operators = prepare(network, build_hypergraph(network, config.hypergraph), settings)
    dense = 3 * 2 * n * settings.pool * d
    local = operators.local
    # Within hyperedges the backward pass makes the forward products once more.
    if isinstance(local, Sparse):
        sparse = 2 * local.nnz
    else:
        sparse = 3 * sum(part.A.nnz if isinstance(part, Block) else part.local.nnz for part in local)
    sparse += 4 * operators.G.nnz
    sparse = settings.layers * 2 * d * sparse + 3 * 2 * d * network.edges
    if settings.transform:
        dense += settings.layers * 3 * 3 * 2 * n * d * d
    return dense / 1e9, sparse / 1e9


def measure_gemm() -> float:
    """GFLOP/s of one core on a 2048 × 2048 product."""
    torch.set_num_threads(1)
    A = torch.randn(2048, 2048)
    A @ A
    before = time.process_time()
    for _ in range(10):
        A @ A
    return 10 * 2 * 2048**3 / 1e9 / (time.process_time() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=15000)
    parser.add_argument("--edges", type=int, default=200000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--variants", default="default,linear,sum")
    parser.add_argument("--adam", action="store_true", help="kedge's Adam against torch's")
    parser.add_argument("--threads", action="store_true", help="one thread against two, by network size")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "VARIANT"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.one:
        print(json.dumps(time_steps(asked.one[0], asked.one[1], asked.accounts, asked.edges, asked.steps)))
        return
    if asked.adam or asked.threads:
        if asked.adam:
            compare_adam(asked.accounts)
        if asked.threads:
            compare_threads()
        return
    rate = measure_gemm()
    print(f"one part: {asked.accounts:,} accounts, {asked.edges:,} edges; GEMM {rate:.0f} GFLOP/s a core")
    print(
        f"{'variant':8} {'kind':6} {'step s':>8} {'forward':>8} {'backward':>8} {'adam':>6} {'peak MB':>8} {'ratio':>6}"
    )
    for variant in asked.variants.split(","):
        found = {}
        for kind in ("fast", "plain"):
            steps = asked.steps if kind == "fast" else max(1, asked.steps // 3)
            printed = measuring.measure(
                sys.executable, __file__, "--one", kind, variant, "--steps", str(steps),
                "--accounts", str(asked.accounts), "--edges", str(asked.edges),
            ).printed  # fmt: skip
            found[kind] = f = json.loads(printed)
            ratio = f["step"] / found["fast"]["step"]
            print(
                f"{variant:8} {kind:6} {f['step']:8.3f} {f['forward']:8.3f} {f['backward']:8.3f} {f['adam']:6.3f} "
                f"{f['peak']:8.0f} {ratio:6.1f}",
                flush=True,
            )
        dense, sparse = count_gflop(variant, asked.accounts, asked.edges)
        spent = found["fast"]["step"]
        floor = dense / rate
        print(
            f"{variant:8} {dense:.1f} GFLOP dense, {sparse:.2f} sparse: {(dense + sparse) / spent:.0f} GFLOP/s in all; "
            f"dense products alone would take {floor:.3f} s, {floor / spent:.0%} of the step",
            flush=True,
        )
        shares = {name[1:]: value for name, value in found["fast"].items() if name.startswith(":")}
        print(f"{variant:8} alone: " + ", ".join(f"{name} {value:.3f} s" for name, value in shares.items()), flush=True)


if __name__ == "__main__":
    main()
