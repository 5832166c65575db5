"""Runs without some anchors: each is validation and decoy in turn, whatever the seed and the names of the sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_problems import planted as networked
from planted import planted
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.linalg import SparseAlignment
from kedge.probability.folds import count_folds, count_parts, draw_parts, run_folds, used_once
from kedge.types import Alignment, Problem


def test_every_anchor_is_validation_and_most_are_a_decoy_of_one_side() -> None:
    problem, _, _ = planted(anchors=101)
    parts = draw_parts(problem, 0.2, 15)
    assert [part.roles.shape[0] for part in parts] == [3] * 5
    assert sorted(np.concatenate([part.rows for part in parts]).tolist()) == list(range(101))
    assert all((part.roles[0] == 0).all() for part in parts), "the first run of a part is on whole networks"
    later = np.concatenate([part.roles[1:] for part in parts], axis=1)
    assert {tuple(sorted(column)) for column in later.T.tolist()} == {(0, 0), (0, 1), (0, 2)}
    np.testing.assert_allclose(np.bincount(later.ravel()) / later.size, [0.6, 0.2, 0.2], atol=0.02)
    for part in draw_parts(problem, 0.2, 5, given=40):
        assert part.rows.max() < 40
        assert part.roles.shape == (2, 8)


@pytest.mark.parametrize(("runs", "expected"), [(1, (1, 1)), (2, (1, 2)), (6, (3, 2)), (10, (5, 2)), (12, (4, 3))])
def test_parts_and_their_runs(runs: int, expected: tuple[int, int]) -> None:
    problem, _, _ = planted(anchors=101)
    parts = draw_parts(problem, 0.2, runs)
    assert (len(parts), parts[0].roles.shape[0]) == expected
    assert {int(kind) for part in parts for kind in part.roles.ravel()} == {0, 1, 2}, "decoys even in a single run"


@pytest.mark.parametrize("anchors", [2, 3, 7, 10])
def test_few_anchors_are_decoys_too_and_one_remains(anchors: int) -> None:
    problem, _, _ = planted(anchors=anchors)
    parts = draw_parts(problem, 0.2, 15)
    assert {int(kind) for part in parts for kind in part.roles.ravel()} >= {0, 1, 2}
    assert all(1 <= len(part.rows) < anchors for part in parts)
    (whole,) = draw_parts(problem, 1.0, 1)
    assert len(whole.rows) == anchors - 1


def test_no_anchor_and_one_anchor() -> None:
    none, _, _ = planted(anchors=0)
    assert draw_parts(none, 0.2, 15) == []
    one, _, _ = planted(anchors=1)
    (part,) = draw_parts(one, 0.2, 15)
    assert (part.rows.tolist(), part.roles.tolist()) == ([0], [[0]])


def test_more_runs_where_anchors_are_few() -> None:
    assert count_folds(200, 0.2, 0) == 15
    assert count_folds(1000, 0.2, 0) == 6
    assert count_folds(6000, 0.2, 0) == 1
    assert count_folds(200, 0.2, 4) == 4
    assert [count_parts(anchors, 0.2, 0) for anchors in (200, 541, 600, 1000, 6000)] == [5, 4, 5, 3, 1]


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
    assert 28 <= decoys <= 36, "two of five anchors on either side"
    assert {p.left.n for p in given} == {120}, "numbers stay"
    kept, whole = _networks_seen(problem, removes=False)
    assert all(p.left is problem.left and p.right is problem.right for p in whole)
    assert (len(given), len(whole)) == (15, 5), "where nothing is removed, one run of a part is enough"
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


def test_later_runs_of_a_part_are_given_its_first_alignment_and_the_same_anchors() -> None:
    problem, _ = networked(n=120, anchors=40, seed=3)
    started: list[Problem] = []
    again: list[tuple[Problem, Alignment]] = []

    def align(fewer: Problem) -> Alignment:
        started.append(fewer)
        return SparseAlignment(csr_array((fewer.left.n, fewer.right.n)))

    def realign(fewer: Problem, before: Alignment) -> Alignment:
        again.append((fewer, before))
        return before

    run_folds(problem, align, Config().decide, realign=realign)
    assert (len(started), len(again)) == (5, 10)
    assert all(p.left is problem.left and p.right is problem.right for p in started), "whole networks come first"
    for place, (fewer, _) in enumerate(again):
        np.testing.assert_array_equal(fewer.anchors, started[place // 2].anchors)
