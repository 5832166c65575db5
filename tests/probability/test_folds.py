"""Runs without some anchors: each is validation or decoy in turn, whatever the seed and the names of the sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_problems import planted as networked
from planted import planted
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.linalg import SparseAlignment
from kedge.probability.folds import count_folds, draw_folds, run_folds, used_once
from kedge.types import Alignment, Problem


def test_every_anchor_is_used_once_in_each_repeat_and_most_are_validation() -> None:
    problem, _, _ = planted(anchors=101)
    drawn = draw_folds(problem, 0.2, 15)
    assert len(drawn) == 15
    for repeat in range(3):
        rows = np.concatenate([rows for rows, _ in drawn[5 * repeat : 5 * repeat + 5]])
        assert sorted(rows.tolist()) == list(range(101))
    roles = np.concatenate([role for _, role in drawn])
    np.testing.assert_allclose(np.bincount(roles) / len(roles), [0.6, 0.2, 0.2], atol=0.02)
    uses = np.zeros((101, 3), int)
    for rows, role in drawn:
        np.add.at(uses, (rows, role), 1)
    assert (uses[:, 0] >= 1).all(), "each shows what a score is worth"
    assert (uses[:, 1:].sum(axis=1) >= 1).all(), "and each is a decoy"
    for rows, role in draw_folds(problem, 0.2, 5, given=40):
        assert rows.max() < 40
        assert len(rows) == len(role) == 8


@pytest.mark.parametrize("anchors", [2, 3, 7, 10])
def test_few_anchors_are_decoys_too_and_one_remains(anchors: int) -> None:
    problem, _, _ = planted(anchors=anchors)
    drawn = draw_folds(problem, 0.2, 15)
    assert {int(kind) for _, role in drawn for kind in role} >= {0, 1}
    assert all(1 <= len(rows) < anchors for rows, _ in drawn)


def test_no_anchor_and_one_anchor() -> None:
    none, _, _ = planted(anchors=0)
    assert draw_folds(none, 0.2, 15) == []
    one, _, _ = planted(anchors=1)
    ((rows, role),) = draw_folds(one, 0.2, 15)
    assert (rows.tolist(), role.tolist()) == ([0], [0])


def test_more_runs_where_anchors_are_few() -> None:
    assert count_folds(200, 0.2, 0) == 15
    assert count_folds(1000, 0.2, 0) == 6
    assert count_folds(6000, 0.2, 0) == 1
    assert count_folds(200, 0.2, 4) == 4


def _networks_seen(problem: Problem, removes: bool = True) -> tuple[list[Any], list[Problem]]:
    given: list[Problem] = []

    def align(fewer: Problem) -> Alignment:
        given.append(fewer)
        rng = np.random.default_rng(0)
        scores = rng.random((fewer.left.n, fewer.right.n)).astype(np.float32)
        return SparseAlignment(csr_array(scores if fewer.sides == ("left", "right") else scores.T))

    return run_folds(problem, align, Config().decide, removes=removes), given


def test_partners_of_decoys_are_isolated_and_on_no_list() -> None:
    problem, _ = networked(n=120, anchors=40, seed=3)
    folds, given = _networks_seen(problem)
    decoys = 0
    for fold in folds:
        held = np.concatenate([fold.validation, *fold.decoys])
        assert not np.isin(held[:, 0], fold.problem.anchors[:, 0]).any()
        assert len(held) + len(fold.problem.anchors) == 40
        pairs = fold.shortlist(10)
        for side, own in enumerate((fold.problem.left, fold.problem.right)):
            removed = fold.decoys[1 - side][:, side]
            assert (own.degrees[removed] == 0).all()
            assert not np.isin((pairs.left, pairs.right)[side], removed).any()
            there = fold.decoys[side][:, side]
            assert np.isin(there, (pairs.left, pairs.right)[side]).all()
            decoys += len(there)
    assert 36 <= decoys <= 60, "about two fifths of all uses"
    assert {p.left.n for p in given} == {120}, "numbers stay"
    kept, whole = _networks_seen(problem, removes=False)
    assert all(p.left is problem.left and p.right is problem.right for p in whole)
    for one, other in zip(folds, kept, strict=True):
        np.testing.assert_array_equal(one.decoys[0], other.decoys[0])


def test_exchanged_sides_have_the_same_folds() -> None:
    problem, _ = networked(n=120, anchors=40, seed=3)
    one, _ = _networks_seen(problem)
    two, _ = _networks_seen(problem.mirrored())
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.validation, b.validation)
        for mine, theirs in zip(a.decoys, b.decoys, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_first_repeat_ends_where_an_anchor_comes_again() -> None:
    problem, _ = networked(n=120, anchors=40, seed=3)
    folds, _ = _networks_seen(problem)
    assert used_once(folds) == 5
    assert used_once(folds[:3]) == 3
    assert used_once([]) == 0
