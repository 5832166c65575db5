"""How much of a matching is the draw between equals: the same pair under random numbers of its accounts.

    python benchmarks/numberings.py [--pair facebook-twitter-small] [--methods kedge,faq] [--draws 10]

Accounts that two networks cannot tell apart (twins) are matched by a draw, so `matched` moves with the numbering. Its
mean and spread over several numberings say what one run of any method is worth; a peer's figure is one such run.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.sparse import csr_array
from shared_pairs import load, match_greedily, matched_share

from kedge.config import Config
from kedge.methods import METHODS
from kedge.types import Network, Problem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", default="facebook-twitter-small")
    parser.add_argument("--methods", default="kedge,faq")
    parser.add_argument("--draws", type=int, default=10)
    asked = parser.parse_args()
    split, problem, test = load(asked.pair)
    print(f"{asked.pair} {split}: matched over {asked.draws} numberings")
    for method in asked.methods.split(","):
        found = [matched(method, problem, test, draw) for draw in range(asked.draws)]
        print(f"{method:10} {np.mean(found):.4f} ± {np.std(found):.4f}  least {min(found):.4f}  most {max(found):.4f}")


def matched(method: str, problem: Problem, test: np.ndarray, draw: int) -> float:
    rng = np.random.default_rng(draw)
    orders = [rng.permutation(network.n) for network in (problem.left, problem.right)]
    places = [np.argsort(order) for order in orders]
    networks = [
        Network(csr_array(network.adjacency[order][:, order]), network.ids)
        for network, order in zip((problem.left, problem.right), orders, strict=True)
    ]

    def moved(pairs: np.ndarray) -> np.ndarray:
        return np.column_stack([place[column] for place, column in zip(places, pairs.T, strict=True)])

    observed = Problem(networks[0], networks[1], moved(problem.anchors))
    alignment = METHODS[method].align(observed, Config(method=method, seed=draw))
    return matched_share(match_greedily(alignment), moved(test))


if __name__ == "__main__":
    main()
