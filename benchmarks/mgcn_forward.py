"""The paper's efficiency figure: forward time of MGCN, GCN and HGNN over growing sub-networks, as a table and a plot.

    python benchmarks/mgcn_forward.py --out docs/images

CPU milliseconds of one forward pass, the least of several; all with the same d, K = 2 layers a level, ReLU, learned
matrices, and 32 accounts a hyperedge. GCN is Eq. 7, HGNN is Eq. 9 with D_e, MGCN is both levels (fusion `linear`).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import torch
from mgcn_step import make_part

from kedge.context import reuse_freed_memory
from kedge.experiments.forward import time_models


def measure_size(n: int, d: int, rounds: int) -> dict[str, float]:
    """CPU milliseconds of one forward pass of each model."""
    return {name: 1e3 * spent for name, spent in time_models(make_part(n, 13 * n), d, rounds).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--sizes", default="1000,2000,4000,8000,16000,100000")
    parser.add_argument("--dimensions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    reuse_freed_memory()
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
