"""Candidates by vector similarity: the k nearest accounts of each account by cosine, from both sides.

Exact up to `EXACT_UP_TO` accounts on a side, else approximate (linalg/search.py). Never n × n: at most k (n_1 + n_2)
pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.linalg import EXACT_UP_TO, VectorAlignment, nearest, unit_rows
from kedge.types import FloatArray, IntArray, Problem, pair_keys


@dataclass(frozen=True)
class Nearest:
    """Pairs [m, 2] sorted, each once; `recall` is the share of the exact nearest that were found, 1 if exact.

    `cosines`: of each account, on the left and on the right, those of its nearest, [n, k]; nan where it has none.
    """

    pairs: IntArray
    recall: float
    cosines: tuple[FloatArray, FloatArray]
    exact: bool = True


def free_candidates(
    problem: Problem, vectors: VectorAlignment, nearest: int, exact_up_to: int = EXACT_UP_TO
) -> Nearest:
    """The `nearest` of each free account among the free ones: an anchored account is no other account's candidate."""
    sides = ((problem.left.n, problem.anchors[:, 0]), (problem.right.n, problem.anchors[:, 1]))
    left, right = (np.setdiff1d(np.arange(size), anchored) for size, anchored in sides)
    return nearest_pairs(vectors.left, vectors.right, nearest, (left, right), exact_up_to)


def nearest_pairs(
    X: FloatArray,
    Y: FloatArray,
    k: int,
    among: tuple[IntArray, IntArray] | None = None,
    exact_up_to: int = EXACT_UP_TO,
) -> Nearest:
    """The k nearest by cosine of each left account among the right ones, and of each right one among the left.

    Pairs consist of the left and right accounts `among`, or of all; the others have `cosines` too. An account whose
    vector is 0 is in no pair and has no cosines.
    """
    sides = [unit_rows(np.asarray(vectors, np.float32)) for vectors in (X, Y)]
    placed = [np.flatnonzero(vectors.any(axis=1)) for vectors in sides]
    wanted = placed if among is None else [np.intersect1d(*both) for both in zip(placed, among, strict=True)]
    cosines = (np.full((len(X), k), np.nan, np.float32), np.full((len(Y), k), np.nan, np.float32))
    found, recalls = [np.empty((0, 2), np.int64)], []
    for near in (0, 1):
        if k < 1 or not len(placed[near]) or not len(wanted[1 - near]):
            continue
        seen = nearest(sides[near][placed[near]], sides[1 - near][wanted[1 - near]], k, exact_up_to)
        known = seen.places >= 0
        cosines[near][placed[near], : known.shape[1]] = np.where(known, seen.cosines, np.nan)
        row, place = np.nonzero(known & np.isin(placed[near], wanted[near])[:, None])
        mine, other = placed[near][row], wanted[1 - near][seen.places[row, place]]
        found.append(np.column_stack([mine, other] if near == 0 else [other, mine]))
        recalls.append(seen.recall)
    exact = max(len(accounts) for accounts in wanted) <= exact_up_to
    recall = float(np.mean(recalls)) if recalls else 1.0
    return Nearest(each_once(np.concatenate(found)), recall, cosines, exact)


def each_once(pairs: IntArray) -> IntArray:
    """The pairs sorted, each once; by one number per pair, which takes a tenth of the time that whole rows take."""
    width = int(pairs[:, 1].max(initial=0)) + 1
    numbers = np.sort(pair_keys(pairs[:, 0], pairs[:, 1], width))
    new = np.diff(numbers, prepend=-1) > 0  # accounts are numbered from 0
    return np.column_stack(np.divmod(numbers[new], width))
