"""CPU seconds of the canonical order of accounts: a planted pair, 100,000 accounts and 1,000,000 edges on each side."""

from __future__ import annotations

import time

import numpy as np

from kedge.linalg import canonical
from kedge.synthetic import planted
from kedge.types import Problem

ACCOUNTS, EDGES, PERSONS, ANCHORS = 100_000, 1_000_000, 75_000, 15_000


def main() -> None:
    made = planted(ACCOUNTS, ACCOUNTS, PERSONS, EDGES, EDGES, 0.6, 0)
    given = np.random.default_rng(0).permutation(len(made.anchors))[:ANCHORS]
    problem = Problem(made.left, made.right, made.anchors[given])
    before = time.process_time()
    canonical(problem)
    print(f"{ACCOUNTS:,} accounts and {EDGES:,} edges in each network: {time.process_time() - before:.1f} CPU seconds")


if __name__ == "__main__":
    main()
