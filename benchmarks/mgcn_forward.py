"""The paper's efficiency figure: forward time of MGCN, GCN and HGNN over growing sub-networks, as a table and a plot.

    python benchmarks/mgcn_forward.py --out docs/images

CPU milliseconds of one forward pass, the least of several; all with the same d, K = 2 layers a level, ReLU, learned
matrices, and 32 accounts a hyperedge. GCN is Eq. 7, HGNN is Eq. 9 with D_e, MGCN is both levels (fusion `linear`).
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from mgcn_step import make_part

from kedge.config import MgcnConfig, resolve
from kedge.hypergraph import build_hypergraph
from kedge.mgcn.layers import convolve, normalise_adjacency
from kedge.mgcn.model import Mgcn, prepare
from kedge.spmm import Sparse, hold_memory


def time_forward(run: object, rounds: int) -> float:
    """CPU milliseconds, the least of several runs."""
    best = np.inf
    with torch.no_grad():
        for _ in range(rounds + 1):
            before = time.process_time()
            run()
            best = min(best, time.process_time() - before)
    return best * 1e3


def measure_size(n: int, d: int, rounds: int) -> dict[str, float]:
    network = make_part(n, 13 * n)
    # Walks of three steps: hyperedges of the same size, built in a third of the time, which is not measured here.
    hypergraph = build_hypergraph(network, resolve(assignments=["hypergraph.hops=3"]).hypergraph)
    draws = torch.Generator().manual_seed(0)
    start = torch.randn((n, d), generator=draws)
    found = {}
    for name, levels in (("MGCN", "both"), ("HGNN", "hypergraph")):
        settings = MgcnConfig(
            dimensions=d,
            layers=2,
            levels=levels,
            transform=True,
            activation="relu",
            unit=False,
            fusion="linear",
            blend=1,
        )
        model = Mgcn(prepare(network, hypergraph, settings), settings, start, draws)
        found[name] = time_forward(model, rounds)
    A = Sparse.of(normalise_adjacency(network), symmetric=True)
    W = [torch.randn((d, d), generator=draws) for _ in range(2)]
    found["GCN"] = time_forward(lambda: convolve(A, convolve(A, start, W[0]), W[1]), rounds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--sizes", default="1000,2000,4000,8000,16000,100000")
    parser.add_argument("--dimensions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    hold_memory()
    sizes = [int(size) for size in asked.sizes.split(",")]
    table = []
    print(
        f"{'accounts':>9} {'GCN ms':>8} {'HGNN ms':>8} {'MGCN ms':>8} {'MGCN / (GCN + HGNN)':>20} {'us an account':>14}"
    )
    for n in sizes:
        found = measure_size(n, asked.dimensions, asked.rounds)
        table.append(found)
        print(
            f"{n:9,} {found['GCN']:8.1f} {found['HGNN']:8.1f} {found['MGCN']:8.1f} "
            f"{found['MGCN'] / (found['GCN'] + found['HGNN']):20.2f} {found['MGCN'] * 1e3 / n:14.2f}",
            flush=True,
        )
    slope = np.polyfit(np.log(sizes), np.log([found["MGCN"] for found in table]), 1)[0] if len(sizes) > 1 else 1.0
    print(f"MGCN's time grows as n^{slope:.2f}")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5))
    for name in ("GCN", "HGNN", "MGCN"):
        axes.plot(sizes, [found[name] for found in table], marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="accounts", ylabel="forward pass, CPU ms")
    axes.legend()
    figure.tight_layout()
    asked.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(asked.out / "mgcn-forward.png", dpi=110)
    print(f"plot: {asked.out / 'mgcn-forward.png'}")


if __name__ == "__main__":
    main()
