"""How often boundaries should be refined: MGCN on a planted pair, judged on anchors held back from the given ones.

    python benchmarks/boundary_steps.py [--steps 0 1 2 4 8 16] [--shared-by border]

The default of `partition.boundary_steps` was chosen by this, before partitioned.py was run with it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from partitioned import KeepingCache, figures

from kedge.config import resolve
from kedge.context.run_context import RunContext
from kedge.embedding.network import embed_both
from kedge.similarity import project_by
from kedge.synthetic import planted
from kedge.types import Problem

SETTINGS = "mgcn.dimensions=48 mgcn.steps=120 engine.name=serial partition.n_min=300 partition.shared=300".split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[0, 1, 2, 4, 8, 16])
    parser.add_argument("--shared-by", choices=["border", "bridges", "paper"], default="border")
    asked = parser.parse_args()
    pair = planted(5000, 5000, 4000, 40_000, 40_000, 0.8, 11)
    anchors = pair.anchors[np.random.default_rng(0).permutation(len(pair.anchors))]
    problem, held = Problem(pair.left, pair.right, anchors[:800]), anchors[800:1600]
    context = RunContext(KeepingCache())
    print("variant | CPU s | hits1 | hits10 | mrr")
    variants = {"whole": ["partition.n_max=5000"]}
    for steps in asked.steps:
        cut = ["partition.n_max=1700", f"partition.boundary_steps={steps}", f"partition.shared_by={asked.shared_by}"]
        variants[f"cut, refined {steps} times"] = cut
    for name, settings in variants.items():
        began = time.process_time()
        left, right = embed_both(problem, resolve(assignments=[*SETTINGS, *settings]), 0, context)
        found = figures(project_by(left.vectors, right.vectors, problem.anchors, 0)[0], held)
        print(f"{name} | {time.process_time() - began:.0f} | {found}", flush=True)


if __name__ == "__main__":
    main()
