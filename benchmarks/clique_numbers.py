"""Node clique numbers: for which share of the accounts they are proved, and what that costs.

    python benchmarks/clique_numbers.py NETWORK...

NETWORK is a list of edges. "greedy right": how often the greedy cliques, from which the search starts, are the largest.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kedge.context import cpu_seconds
from kedge.hypergraph.clique import clique_numbers
from kedge.ingest import read_network
from kedge.types import Network


def main() -> None:
    """One row per network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", type=Path)
    given = parser.parse_args()
    clique_numbers(Network.from_edges([(0, 1)], 2))  # compiled before time is taken
    print("| network | accounts | edges | largest clique | proved | greedy right | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for path in given.networks:
        network = read_network(path)[0]
        began = cpu_seconds()
        sizes, proved = clique_numbers(network)
        spent = cpu_seconds() - began
        greedy = clique_numbers(network, branches=0)[0]
        name = path.parent.name if path.stem == "edges" else f"{path.parent.name}, {path.stem}"
        print(
            f"| {name} | {network.n:,} | {network.edges:,} | {sizes.max()} | {proved.mean():.4f} | "
            f"{(greedy == sizes).mean():.3f} | {spent:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
