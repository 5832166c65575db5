"""Metrics: (scores, truth) -> numbers. The only module that is handed held-out pairs.

Three protocols: ranking (all accounts of the other network are candidates), the paper's balanced pairs
(Macro precision, recall, F1) and decisions (assigned partners, calibration). `METRICS` at the end names every figure
that `pipeline.measure` returns, once: labels and order of all tables come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from kedge.linalg import average_rank
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Side, as_pairs

HITS: Final = (1, 5, 10, 30)
MOST_DRAWN: Final = 100_000  # true pairs that Macro figures are measured on: a standard error of at most 0.002


def ranks(alignment: Alignment, test: IntArray, side: Side = "left") -> FloatArray:
    """The rank of the true partner among all accounts of the other network, from 1; ties get their average.

    A pair that names an account in neither network (-1) cannot be found: its rank is infinite.
    """
    test = as_pairs(test)
    known = (test >= 0).all(axis=1)
    result = np.full(len(test), np.inf)
    result[known] = average_rank(*alignment.count_above(test[known], side))
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

    Of more than `MOST_DRAWN` true pairs so many, drawn at random. A random partner that happens to be the true one (in
    `test` or among the `known` anchors) is drawn again.
    """
    positives = as_pairs(test)
    positives = positives[(positives >= 0).all(axis=1)]
    if len(positives) > MOST_DRAWN:  # the same for every draw of false ones
        positives = positives[np.sort(np.random.default_rng(0).choice(len(positives), MOST_DRAWN, replace=False))]
    if n_right < 2:
        return positives, as_pairs([])
    truth = {(int(u), int(v)) for u, v in np.concatenate([positives, as_pairs(known)])}
    lefts = np.repeat(positives[:, 0], ratio)
    rights = rng.integers(n_right, size=len(lefts))
    for i, u in enumerate(lefts):
        while (int(u), int(rights[i])) in truth:
            rights[i] = rng.integers(n_right)
    return positives, np.column_stack([lefts, rights])


def macro(linked_true: BoolArray, linked_false: BoolArray) -> dict[str, float | None]:
    """Macro precision, recall and F1 over the two classes, link and no link, from the predicted link of each pair."""
    if len(linked_true) == 0 or len(linked_false) == 0:
        return {"macro_precision": None, "macro_recall": None, "macro_f1": None}
    yes, no = int(linked_true.sum()), int((~linked_false).sum())
    table = [
        (yes, yes + int(linked_false.sum()), len(linked_true)),
        (no, no + int((~linked_true).sum()), len(linked_false)),
    ]
    precision = [right / predicted if predicted else 0.0 for right, predicted, _ in table]
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
    of them, a wrong assignment may be counted through either of two accounts and a right one through one pair,
    so that `precision` is too low; `sample_precision` counts an assignment half for each of its accounts in the sample.
    That is right where every account has a partner, and too high where wrong assignments join accounts without one:
    the truth of a sample lies between the two.
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
    predicted = np.bincount(index, weights=probability, minlength=bins)
    true = np.bincount(index, weights=correct.astype(float), minlength=bins)
    return float(np.abs(predicted - true).sum() / len(probability))


Place: TypeAlias = Literal["evaluate", "compare", "brief", "paper", "also", "cells"]


@dataclass(frozen=True)
class Metric:
    """A figure on held-out pairs: its name in JSON, its label and help in tables, the function behind it.

    `shown` has the places that print it. evaluate: `kedge match` and `kedge evaluate`; compare: the files of
    `kedge compare`; brief: its table on a terminal and its picture; paper: what the paper prints, so what
    `kedge reproduce` draws; also: further tables of its page; cells: the files of single cells.
    """

    name: str
    label: str
    help: str
    origin: Callable[..., Any]
    shown: str = ""
    higher_is_better: bool = True


_AGAINST_ONE: Final = "true against as many random pairs"
_AGAINST_TWO: Final = "true against twice as many random pairs"
_AT_MOST: Final = "the same, if the test set is a sample of all pairs"
_RECORDS: Final = (
    Metric("hits1", "Hits@1", "true partner ranked first", ranking, "evaluate compare brief also cells"),
    Metric("hits5", "Hits@5", "true partner among the first 5", ranking, "evaluate cells"),
    Metric("hits10", "Hits@10", "true partner among the first 10", ranking, "evaluate compare cells"),
    Metric("hits30", "Hits@30", "true partner among the first 30", ranking, "cells"),
    Metric("mrr", "MRR", "mean of 1 / rank", ranking, "evaluate compare brief also cells"),
    Metric("matched_hits1", "matched", "test pairs assigned to each other", decisions, "evaluate compare brief cells"),
    Metric("precision", "precision", "assigned pairs that are right", decisions, "evaluate cells"),
    Metric("sample_precision", "precision at most", _AT_MOST, decisions),
    Metric("recall", "recall", "test pairs assigned to each other", decisions),
    Metric("f1", "F1", "harmonic mean of precision and recall", decisions),
    Metric("match_precision", "match precision", "matches that are right", decisions, "evaluate"),
    Metric("match_sample_precision", "match precision at most", _AT_MOST, decisions, "evaluate"),
    Metric("match_recall", "match recall", "test pairs decided to be matches", decisions, "evaluate"),
    Metric("match_f1", "match F1", "harmonic mean of match precision and match recall", decisions),
    Metric("macro_precision", "Macro Precision", _AGAINST_ONE, macro, "paper cells"),
    Metric("macro_f1", "Macro F1", _AGAINST_ONE, macro, "evaluate compare brief paper cells"),
    Metric("macro_recall", "Macro Recall", _AGAINST_ONE, macro, "paper cells"),
    Metric("macro_precision_1to2", "Macro Precision at 1:2", _AGAINST_TWO, macro, "cells"),
    Metric("macro_f1_1to2", "Macro F1 at 1:2", _AGAINST_TWO, macro, "compare also cells"),
    Metric("macro_recall_1to2", "Macro Recall at 1:2", _AGAINST_TWO, macro, "cells"),
    Metric("ece", "ECE", "calibration error of the best candidates", calibration_error, "evaluate cells", False),
)

METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in _RECORDS}


def metrics_shown(place: Place) -> tuple[Metric, ...]:
    """The metrics shown at a place, in the order of the registry."""
    return tuple(metric for metric in METRICS.values() if place in metric.shown.split())
