"""What excluding anchored accounts and the pair network change for methods with vectors: all from one set of vectors.

    python benchmarks/pairing_choice.py [--pair arenas95] [--split r20_s0] [--methods gcn,mah,mgcn] [--preset default]

`all by cosine`: every account of the other network by cosine; `free by cosine`, `free by network`: the nearest free
accounts first, in either order; `chosen`: what held-back training anchors prefer (`pairing.score = auto`), which may
also be the order of nearness.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

from shared_pairs import load

from kedge.config import resolve
from kedge.evaluation import metrics as evaluate
from kedge.linalg import VectorAlignment
from kedge.methods import METHODS
from kedge.similarity.align import rerank
from kedge.similarity.candidates import free_candidates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", default="arenas95")
    parser.add_argument("--split", help="off20 where the pair has it, else r20_s0")
    parser.add_argument("--methods", default="gcn,mah,mgcn")
    parser.add_argument("--preset", default="default")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    _, problem, test = load(asked.pair, asked.split)
    config = resolve(asked.preset)
    print("| pair | method | order | Hits@1 | Hits@10 | MRR |\n|---|---|---|---:|---:|---:|")
    for name in asked.methods.split(","):
        chosen = METHODS[name].align(problem, config)
        if not isinstance(chosen, VectorAlignment):
            raise SystemExit(f"{name} has no vectors")
        plain = VectorAlignment(chosen.left, chosen.right)
        orders = {"all by cosine": plain}
        pairs = free_candidates(problem, plain, config.pairing.nearest).pairs
        network = None if chosen.network is None else chosen.network.log_odds
        for log_odds, words in ((None, "free by cosine"), (network, "free by network")):
            orders[words] = replace(plain, head=rerank(problem, plain, pairs, log_odds))
        for words, alignment in (orders | {"chosen": chosen}).items():
            found = evaluate.ranking(alignment, test)
            figures = " | ".join(f"{found[figure]:.3f}" for figure in ("hits1", "hits10", "mrr"))
            print(f"| {asked.pair} | {name} | {words} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
