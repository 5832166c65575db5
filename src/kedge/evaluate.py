"""Metrics: (scores, truth) -> numbers. The only module that is handed held-out pairs.

Three protocols: ranking (all accounts of the other network are candidates), the paper's balanced pairs
(Macro precision, recall, F1) and decisions (assigned partners, calibration).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from kedge.alignment import Alignment
from kedge.types import BoolArray, FloatArray, IntArray, Side, as_pairs

__all__ = ["HITS", "balanced_pairs", "calibration_error", "decisions", "macro", "ranking", "ranks"]

HITS: Final = (1, 5, 10, 30)


def ranks(alignment: Alignment, test: IntArray, side: Side = "left") -> FloatArray:
    """The rank of the true partner among all accounts of the other network, from 1; ties get their average.

    A pair that names an account in neither network (-1) cannot be found by anyone: its rank is infinite.
    """
    test = as_pairs(test)
    known = (test >= 0).all(axis=1)
    result = np.full(len(test), np.inf)
    above, equal = alignment.count_above(test[known], side)
    result[known] = 1 + above + equal / 2
    return result


def _of_ranks(rank: FloatArray) -> dict[str, float | None]:
    if len(rank) == 0:
        return {**{f"hits{k}": None for k in HITS}, "mrr": None}
    return {**{f"hits{k}": float((rank <= k).mean()) for k in HITS}, "mrr": float((1 / rank).mean())}


def ranking(alignment: Alignment, test: IntArray) -> dict[str, object]:
    """Hits@1/5/10/30 and MRR: left to right, right to left, and their mean."""
    forth = _of_ranks(ranks(alignment, test, "left"))
    back = _of_ranks(ranks(alignment, test, "right"))
    both = {name: None if a is None or (b := back[name]) is None else (a + b) / 2 for name, a in forth.items()}
    return {**both, "left_to_right": forth, "right_to_left": back}


def balanced_pairs(
    test: IntArray, n_right: int, known: IntArray, rng: np.random.Generator, ratio: int = 1
) -> tuple[IntArray, IntArray]:
    """The paper's protocol: the true pairs, and `ratio` false ones each, (same left, random right).

    A random partner that happens to be the true one (in `test` or among the `known` anchors) is drawn again.
    """
    positives = as_pairs(test)
    positives = positives[(positives >= 0).all(axis=1)]
    if n_right < 2:
        return positives, as_pairs([])
    truth = {(int(u), int(v)) for u, v in np.concatenate([positives, as_pairs(known)])}
    lefts = np.repeat(positives[:, 0], ratio)
    rights = rng.integers(n_right, size=len(lefts))
    for i, u in enumerate(lefts):
        while (int(u), int(rights[i])) in truth:
            rights[i] = rng.integers(n_right)
    return positives, np.column_stack([lefts, rights])


def macro(said_of_true: BoolArray, said_of_false: BoolArray) -> dict[str, float | None]:
    """Macro precision, recall and F1 over the two classes, link and no link, from the yes/no said of each pair."""
    if len(said_of_true) == 0 or len(said_of_false) == 0:
        return {"macro_precision": None, "macro_recall": None, "macro_f1": None}
    yes, no = int(said_of_true.sum()), int((~said_of_false).sum())
    table = [
        (yes, yes + int(said_of_false.sum()), len(said_of_true)),
        (no, no + int((~said_of_true).sum()), len(said_of_false)),
    ]
    precision = [right / said if said else 0.0 for right, said, _ in table]
    recall = [right / true for right, _, true in table]
    f1 = [2 * p * r / (p + r) if p + r else 0.0 for p, r in zip(precision, recall, strict=True)]
    return {
        "macro_precision": sum(precision) / 2,
        "macro_recall": sum(recall) / 2,
        "macro_f1": sum(f1) / 2,
    }


def decisions(assigned: Mapping[int, int], test: IntArray) -> dict[str, float | None]:
    """Of the assigned partners (left -> right): how many test accounts got the right one, and how pure they are.

    `matched_hits1`: share of test pairs whose left account is assigned its true partner. `precision`: share of
    right ones among the assignments that touch a test account; an assignment that joins two accounts of
    different test pairs is one wrong assignment. That is right where `test` has all true pairs. Where it has a sample
    of them, a wrong assignment may have two accounts to be noticed by and a right one has but one pair, so that
    `precision` comes out too low; `sample_precision` counts an assignment half for each of its accounts in the sample.
    That is right where everybody has a partner, and too high where wrong assignments join accounts that have none: the
    truth of a sample lies between the two.
    """
    test = as_pairs(test)
    if len(test) == 0:
        return dict.fromkeys(("matched_hits1", "precision", "sample_precision", "recall", "f1"))
    truth = {int(u): int(v) for u, v in test if u >= 0 and v >= 0}
    rights = set(truth.values())
    touched = sum(1 for u, v in assigned.items() if u in truth or v in rights)
    halves = sum((u in truth) + (v in rights) for u, v in assigned.items())
    right = sum(1 for u, v in truth.items() if assigned.get(u) == v)
    recall = right / len(test)
    precision = right / touched if touched else None
    f1 = None if precision is None else 2 * precision * recall / (precision + recall) if right else 0.0
    sampled = 2 * right / halves if halves else None
    return {"matched_hits1": recall, "precision": precision, "sample_precision": sampled, "recall": recall, "f1": f1}


def calibration_error(probability: FloatArray, correct: BoolArray, bins: int = 15) -> float | None:
    """ECE: the gap between mean probability and share of right answers, averaged over equal-width bins."""
    if len(probability) == 0:
        return None
    index = np.minimum((np.asarray(probability) * bins).astype(int), bins - 1)
    said = np.bincount(index, weights=probability, minlength=bins)
    true = np.bincount(index, weights=correct.astype(float), minlength=bins)
    return float(np.abs(said - true).sum() / len(probability))
