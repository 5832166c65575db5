"""What training one part of N_max accounts costs: CPU before the first step, a step, steps taken, memory beside its
estimate; and from that, by count, what the paper's full size costs.

    python benchmarks/part_cost.py [--accounts 15000] [--degree 40] [--dimensions 64 128] [--steps 300]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import measuring

from kedge.engine.memory import PROCESS_MB
from kedge.store import NETWORK
from kedge.synthetic import planted

FULL_SIZE_ACCOUNTS = 422_291 + 669_198

CHILD = """
import json, sys, time
import numpy as np, torch
from kedge.config import resolve
from kedge.embedding.part import PartJob, megabytes, train_alone
from pathlib import Path
from kedge.store import NETWORK
small, network = (NETWORK.load(Path(word)) for word in sys.argv[1:3])
d, patience, steps = (int(word) for word in sys.argv[3:])
config = resolve(assignments=[f"mgcn.dimensions={d}", f"mgcn.patience={patience}", f"mgcn.steps={steps}"])
def train(adjacency, config):
    moments = [time.process_time()]
    job = PartJob(adjacency, config, 0, np.empty(0, np.int64), "part")
    fit = train_alone(job, lambda *_: moments.append(time.process_time()))
    return fit, moments
# Compiled loops are loaded first: a worker pays for that once, not for each part.
train(small.adjacency, resolve(assignments=["mgcn.dimensions=8", "mgcn.steps=2"]))
fit, moments = train(network.adjacency, config)
job = PartJob(network.adjacency, config, 0, np.empty(0, np.int64), "part")
# Not getrusage: that carries over the peak of the process that this one was forked from.
lines = Path("/proc/self/status").read_text().splitlines()
print(json.dumps({
    "edges": network.edges, "first": moments[1] - moments[0], "step": float(np.median(np.diff(moments[1:]))),
    "steps": len(moments) - 1, "best": fit.steps, "auc": fit.auc, "all": time.process_time() - moments[0],
    "megabytes": next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3,
    "estimate": megabytes(job),
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=15_000)
    parser.add_argument("--degree", type=int, default=40)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--patience", type=int, default=8)
    parser.add_argument("--steps", type=int, default=300)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, n in (("small", 300), ("part", asked.accounts)):
            edges = n * asked.degree // 2
            with (Path(folder) / name).open("wb") as file:
                NETWORK.dump(planted(n, n, n // 2, edges, edges, 0.6, 0).left, file)
        for d in asked.dimensions:
            words = [f"{folder}/small", f"{folder}/part", str(d), str(asked.patience), str(asked.steps)]
            show(d, asked.accounts, json.loads(measuring.measure_python(CHILD, *words).printed))


def show(d: int, accounts: int, found: dict[str, float]) -> None:
    parts = FULL_SIZE_ACCOUNTS / (accounts - 1000)  # N_max less the shared accounts
    print(
        f"d {d}: {accounts:,} accounts, {found['edges']:,} edges; {found['first']:.1f} CPU s to the first step, "
        f"{found['step']:.3f} a step, {found['steps']} steps (best {found['best']}, AUC {found['auc']:.4f}), "
        f"{found['all']:.1f} CPU s in all; {found['megabytes']:.0f} MB at most, estimate {found['estimate']:.0f} + "
        f"{PROCESS_MB:.0f}; full size by count ({parts:.0f} parts): {parts * found['all'] / 60:.0f} CPU minutes",
        flush=True,
    )


if __name__ == "__main__":
    main()
