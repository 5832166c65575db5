"""How hard planted pairs are for the plainest method: hits@1 and hits@10 of common anchored friends.

The paper's full size divided by 100, test anchors that are not in train, candidates: every right account that is
not a known anchor. Ties count half. `python benchmarks/synth_difficulty.py`
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, diags_array

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from kedge.synthetic import Planted, planted, split

SIZE = (4223, 6692, 3282, 37_108, 127_493)


def ranks(pair: Planted, train_share: float) -> np.ndarray:
    train, test = split(pair.anchors, train_share, 0)
    known = csr_array((np.ones(len(train)), (train[:, 0], train[:, 1])), shape=(pair.left.n, pair.right.n))
    rarer = diags_array(1 / np.log(2 + pair.left.degrees))
    scaled = diags_array(1 / np.sqrt(pair.right.degrees))
    scores = (pair.left.adjacency[test[:, 0]] @ rarer @ known @ pair.right.adjacency @ scaled).toarray()
    scores[:, train[:, 1]] = -1
    truth = scores[np.arange(len(test)), test[:, 1]][:, None]
    found: np.ndarray = (scores > truth).sum(axis=1) + ((scores == truth).sum(axis=1) + 1) / 2
    return found


def main() -> None:
    print("overlap  train  hits@1  hits@10")
    for overlap in (0.2, 0.5, 0.8):
        pair = planted(*SIZE, overlap, seed=3)
        for train_share in (0.1, 0.5, 0.9):
            rank = ranks(pair, train_share)
            print(f"{overlap:7}  {train_share:5}  {(rank <= 1).mean():6.3f}  {(rank <= 10).mean():7.3f}")


if __name__ == "__main__":
    main()
