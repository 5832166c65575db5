"""How well vectors foresee edges: MGCN and its levels against DeepWalk and PALE-style vectors of the same d.

    python benchmarks/mgcn_links.py

A tenth of the edges is left out as test (never an account's last one), with as many pairs drawn uniformly that are
no edges. Each method sees the other edges only, and stops or chooses by edges that it leaves out of those itself.
AUC of x_i · x_j; for DeepWalk and PALE of the cosine too, the better of the two on the test edges being theirs.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np

from kedge.config import BaselineConfig, resolve
from kedge.ingest import read_network
from kedge.linalg import unit_rows
from kedge.methods.skip_gram import walk_vectors
from kedge.mgcn import embed
from kedge.mgcn.holdout import area_under_curve, hold_out, score_pairs

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
NETWORKS = ("ego-facebook", "fb100-hamilton46", "gemsec-fb-government")
PLAIN = ["mgcn.levels=none", "mgcn.dropout=0", "mgcn.drop_output=0", "mgcn.unit=false"]
METHODS = {
    "DeepWalk": None,
    "PALE-style": PLAIN,
    "MGCN": [],
    "simple level only": ["mgcn.levels=simple"],
    "hypergraph level only": ["mgcn.levels=hypergraph"],
    "no level": ["mgcn.levels=none"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--set", action="append", default=[], help="name=value, for every method but DeepWalk")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    d = resolve().mgcn.dimensions
    walks = BaselineConfig(dimensions=d, walk_length=80, window=10)
    print(f"held-out-edge AUC, d = {d}, {asked.seeds} seeds: mean ± standard deviation (CPU seconds a fit)")
    for name in asked.networks.split(","):
        folder = ROOT / "singles" / name
        if not folder.is_dir():
            print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
            continue
        network, _ = read_network(folder / "edges.tsv")
        for method in asked.methods.split(","):
            found, spent = [], 0.0
            for seed in range(asked.seeds):
                split = hold_out(network, 0.1, np.random.default_rng(seed))
                assert split is not None
                before = time.process_time()
                extra = METHODS[method]
                if extra is None:
                    X = walk_vectors(split.network, walks, seed)
                else:
                    X = embed(split.network, resolve(assignments=[*asked.set, *extra]), seed).vectors
                spent += time.process_time() - before
                forms = [X] if method not in ("DeepWalk", "PALE-style") else [X, unit_rows(X)]
                aucs = [area_under_curve(score_pairs(x, split.edges), score_pairs(x, split.non_edges)) for x in forms]
                found.append(max(aucs))
            print(
                f"{name:22} {method:22} {np.mean(found):.4f} ± {np.std(found):.4f} ({spent / asked.seeds:.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
