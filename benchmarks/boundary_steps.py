"""How often boundaries should be refined: MGCN on a planted pair, judged on anchors held back from the given ones.

    python benchmarks/boundary_steps.py [--steps 0 1 2 4 8 16]

The default of `partition.boundary_steps` was chosen by this, before partitioned.py was run with it.
"""

from __future__ import annotations

import argparse

import numpy as np
from partitioned import Hoard, show

from kedge.config import resolve
from kedge.synth import planted
from kedge.types import Problem
from kedge.workshop import Workshop

SETTINGS = "mgcn.dimensions=48 mgcn.steps=120 engine.name=serial partition.n_min=300 partition.shared=300".split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[0, 1, 2, 4, 8, 16])
    asked = parser.parse_args()
    pair = planted(5000, 5000, 4000, 40_000, 40_000, 0.8, 11)
    anchors = pair.anchors[np.random.default_rng(0).permutation(len(pair.anchors))]
    problem, held = Problem(pair.left, pair.right, anchors[:800]), anchors[800:1600]
    workshop = Workshop(Hoard())
    print("variant | CPU s | hits1 | hits10 | mrr")
    show("whole", problem, held, resolve(assignments=[*SETTINGS, "partition.n_max=5000"]), 0, workshop)
    for steps in asked.steps:
        settings = [*SETTINGS, "partition.n_max=1700", f"partition.boundary_steps={steps}"]
        show(f"cut, refined {steps} times", problem, held, resolve(assignments=settings), 0, workshop)


if __name__ == "__main__":
    main()
