"""What training one part of N_max accounts costs: CPU before the first step, a step, steps taken, memory beside its
estimate; and from that, by count, what the paper's full size costs.

    python benchmarks/part_cost.py [--accounts 15000] [--degree 40] [--dimensions 64 128] [--patience 8]
"""

from __future__ import annotations

import argparse
import json
import sys

import measuring

FULL_SIZE_ACCOUNTS = 422_291 + 669_198

CHILD = """
import json, resource, sys, time
import numpy as np, torch
from kedge.config import resolve
from kedge.embedding.part import PartJob, megabytes, train_alone
from kedge.hypergraph.walks import walk_nearest
from kedge.synth import planted
n, degree, d, patience = (int(word) for word in sys.argv[1:])
edges = n * degree // 2
network = planted(n, n, n // 2, edges, edges, 0.6, 0).left
config = resolve(assignments=[f"mgcn.dimensions={d}", f"mgcn.patience={patience}"])
def train(adjacency, config):
    moments = [time.process_time()]
    job = PartJob(adjacency, config, 0, np.empty(0, np.int64), "part")
    fit = train_alone(job, lambda *_: moments.append(time.process_time()))
    return fit, moments
# Compiled loops are loaded first: a worker pays for that once, not for each part.
small = planted(300, 300, 100, 1500, 1500, 0.6, 0).left
train(small.adjacency, resolve(assignments=["mgcn.dimensions=8", "mgcn.steps=2"]))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
before = peak()
fit, moments = train(network.adjacency, config)
job = PartJob(network.adjacency, config, 0, np.empty(0, np.int64), "part")
print(json.dumps({
    "edges": network.edges, "first": moments[1] - moments[0], "step": float(np.median(np.diff(moments[1:]))),
    "steps": len(moments) - 1, "best": fit.steps, "auc": fit.auc, "all": time.process_time() - moments[0],
    "megabytes": peak() - before, "estimate": megabytes(job), "idle": before,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=15_000)
    parser.add_argument("--degree", type=int, default=40)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--patience", type=int, default=8)
    asked = parser.parse_args()
    for d in asked.dimensions:
        words = [str(word) for word in (asked.accounts, asked.degree, d, asked.patience)]
        found = json.loads(measuring.measure_python(CHILD, *words, env={"OMP_NUM_THREADS": "1"}).said)
        parts = FULL_SIZE_ACCOUNTS / (asked.accounts - 1000)
        print(
            f"d {d}, patience {asked.patience}: {asked.accounts:,} accounts, {found['edges']:,} edges; "
            f"{found['first']:.1f} CPU s to the first step, {found['step']:.3f} a step, {found['steps']} steps "
            f"(best {found['best']}, AUC {found['auc']:.4f}), {found['all']:.1f} CPU s in all; "
            f"{found['megabytes']:.0f} MB above {found['idle']:.0f} idle, estimate {found['estimate']:.0f}; "
            f"full size by count ({parts:.0f} parts): {parts * found['all'] / 60:.0f} CPU minutes",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
