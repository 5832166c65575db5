"""What Algorithm 1 keeps: the share of edges inside parts, by how small parts are merged.

    python benchmarks/cut_inside.py NETWORK... [--n-max 15000] [--n-min 1000] [--seeds 3]

NETWORK is a list of edges. Louvain's communities alone, merged by edges (the default), at random (the paper's). Shared
accounts are not counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from kedge.config import PartitionConfig
from kedge.ingest import read_network
from kedge.linalg import row_index
from kedge.partition import cut_network, louvain


def main() -> None:
    """One row per network and way to merge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--n-max", type=int, default=15_000)
    parser.add_argument("--n-min", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print("| network | merge | parts | accounts per part | edges inside |\n|---|---|---|---|---|")
    for path in given.networks:
        network = read_network(path)[0]
        rows, columns = row_index(network.adjacency), network.adjacency.indices
        for merge in ("none", "edges", "paper"):
            found, inside = [], []
            for seed in range(given.seeds):
                if merge == "none":
                    part = louvain(network.adjacency, seed)
                else:
                    config = PartitionConfig.model_validate(
                        {"n_max": given.n_max, "n_min": given.n_min, "merge": merge}
                    )
                    part = cut_network(network, config, seed).part
                found.append(np.bincount(part))
                inside.append(float((part[rows] == part[columns]).mean()))
            least, most = min(sizes.min() for sizes in found), max(sizes.max() for sizes in found)
            count = np.mean([len(sizes) for sizes in found])
            name = path.parent.name if path.stem == "edges" else f"{path.parent.name}, {path.stem}"
            print(f"| {name} | {merge} | {count:,.0f} | {least:,} to {most:,} | {np.mean(inside):.3f} |", flush=True)


if __name__ == "__main__":
    main()
