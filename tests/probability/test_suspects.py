"""Doubtful anchors: wrong ones are found, right ones and unknown ones are not suspected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence_problems import planted
from scipy.stats import beta
from wrong_anchors import with_wrong_anchors

from kedge.config import Config
from kedge.linalg import canonical
from kedge.methods import METHODS
from kedge.probability import calibrate_on, find_suspects, run_folds
from kedge.probability.calibration import Fold
from kedge.probability.suspects import _ALIKE, _NODES, _gather, _log_ratio
from kedge.types import BoolArray, IntArray, Network, Problem, Suspects, is_among


def folds_of(problem: Problem, method: str = "percolation") -> list[Fold]:
    config = METHODS[method].choose_settings(problem, Config(method=method))
    return run_folds(problem, lambda fewer: METHODS[method].align(fewer, config), config.decide)


def suspects_of(problem: Problem, method: str = "percolation") -> Suspects:
    return find_suspects(problem, folds_of(problem, method))


def suspected(problem: Problem, found: Suspects) -> BoolArray:
    return is_among(problem.anchors, found.pairs, problem.right.n)


@pytest.mark.parametrize("method", ["evidence", "percolation"])
@pytest.mark.parametrize("count", [10, 25])
def test_wrong_anchors_are_found_whatever_the_method(method: str, count: int) -> None:
    problem, wrong = with_wrong_anchors(planted(n=300, anchors=80, seed=1)[0], count)
    found = suspects_of(problem, method)
    assert (suspected(problem, found) & wrong).sum() >= 0.9 * count
    assert (suspected(problem, found) & ~wrong).sum() <= 1
    assert found.share == pytest.approx(count / 80, abs=0.05)
    assert found.examined == 80
    assert (np.diff(found.wrong) <= 0).all(), "the surest first"


@pytest.mark.parametrize("anchors", [10, 80])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_right_anchors_are_not_suspected(anchors: int, seed: int) -> None:
    found = suspects_of(planted(n=300, anchors=anchors, seed=seed)[0])
    assert (len(found), found.share, found.notes) == (0, 0.0, ())


def test_an_anchor_without_evidence_either_way_is_no_suspect() -> None:
    problem, wrong = with_wrong_anchors(planted(n=300, anchors=80, seed=1)[0], 20)
    lone = [Network.from_edges(_edges(network), network.n + 1) for network in (problem.left, problem.right)]
    problem = Problem(lone[0], lone[1], np.vstack([problem.anchors, [300, 300]]))
    found = suspects_of(problem)
    assert (suspected(problem, found)[:-1] & wrong).sum() >= 18
    assert not suspected(problem, found)[-1]


def _edges(network: Network) -> IntArray:
    coo = network.adjacency.tocoo()
    return np.column_stack([coo.row, coo.col])


def test_the_true_partner_of_a_suspect_is_its_better_one() -> None:
    given, _ = planted(n=300, anchors=80, seed=1)
    # Partners from accounts without anchor: the true ones stay free, and evidence finds them.
    rows = np.arange(20)
    free = np.setdiff1d(np.arange(300), given.anchors[:, 1])[:20]
    anchors = np.array(given.anchors)
    anchors[rows, 1] = free
    found = suspects_of(replace(given, anchors=anchors), "evidence")
    assert len(found) >= 15
    truth = dict(given.anchors.tolist())
    better = [
        truth[u] == right for (u, _), right in zip(found.pairs.tolist(), found.better[:, 0].tolist(), strict=True)
    ]
    assert np.mean(better) > 0.8
    assert (found.better[:, 0] != found.pairs[:, 1]).all()


def test_exchanged_sides_give_the_mirrored_suspects() -> None:
    problem = canonical(with_wrong_anchors(planted(n=300, anchors=80, seed=1)[0], 20)[0])
    one, two = suspects_of(problem), suspects_of(canonical(problem.mirrored())).mirrored()

    def named(found: Suspects, problem: Problem) -> list[tuple[str, str, float]]:
        names = [(problem.left.name(u), problem.right.name(v)) for u, v in found.pairs.tolist()]
        return sorted((*pair, float(wrong)) for pair, wrong in zip(names, found.wrong, strict=True))

    assert len(one) >= 18
    assert named(one, problem) == named(two, canonical(problem.mirrored()).mirrored())


def test_unrelated_anchors_are_one_line() -> None:
    problem, _ = with_wrong_anchors(planted(n=300, anchors=150, seed=1)[0], 150)
    found = suspects_of(problem)
    assert found.unrelated
    assert len(found) == 0
    assert len(found.notes) == 1
    assert "all of them may be wrong" in found.notes[0]


def test_most_anchors_wrong_is_no_list() -> None:
    problem, _ = with_wrong_anchors(planted(n=300, anchors=80, seed=1)[0], 60)
    assert len(suspects_of(problem)) == 0


def test_no_fold_and_no_anchor_give_nothing() -> None:
    problem, _ = planted(n=40, anchors=12)
    assert len(find_suspects(problem, [])) == 0
    assert len(find_suspects(replace(problem, anchors=np.empty((0, 2), np.int64)), [])) == 0


def test_a_suspect_is_no_validation_error() -> None:
    problem, _ = with_wrong_anchors(planted(n=300, anchors=80, seed=1)[0], 20)
    folds, config = folds_of(problem), Config(method="percolation")
    found = find_suspects(problem, folds)
    plain, clean = calibrate_on(folds, config), calibrate_on(folds, config, suspects=found)
    assert clean.validated == plain.validated - len(found)
    assert clean.correct.mean() > 0.9 > plain.correct.mean()


def test_the_log_ratio_is_the_formula_loop_by_loop() -> None:
    problem, _ = planted(n=40, anchors=15, seed=2)
    fold = folds_of(problem)[0]
    own = problem if fold.problem.sides == problem.sides else problem.mirrored()
    facts = _gather(own, [fold])
    rate, mutual = 0.6, 0.7
    belief = np.linspace(0.2, 1.0, len(own.anchors))
    found = _log_ratio(facts.views[0], rate, belief, mutual)
    number = {tuple(pair): i for i, pair in enumerate(own.anchors.tolist())}
    best = {
        side: fold.alignment.top(np.arange(network.n), 1, side)[0][:, 0]
        for side, network in (("left", own.left), ("right", own.right))
    }
    known = {u: (int(v), mutual) for u, v in enumerate(best["left"]) if v >= 0 and best["right"][v] == u}
    known |= {u: (v, float(belief[number[u, v]])) for u, v in fold.problem.anchors.tolist()}
    left, right = (network.adjacency.toarray() > 0 for network in (fold.problem.left, fold.problem.right))
    rates = beta.ppf(_NODES, _ALIKE * rate, _ALIKE * (1 - rate)).clip(1e-3, 1 - 1e-3)
    for u, v in fold.validation.tolist():
        each = []
        for s in rates:
            product = 1.0
            for a in np.flatnonzero(left[u]).tolist():
                if a not in known:
                    continue
                b, w = known[a]
                x = right[v].sum() * right[b].sum() / right.sum()
                product *= 1 - w + w * s / (x / (1 + x)) if right[v, b] else 1 - w * s
            each.append(product)
        assert found[number[u, v]] == pytest.approx(np.log(np.mean(each)))


def test_suspects_are_saved_and_forgotten_as_arrays() -> None:
    pairs, better = np.array([(0, 1), (2, 3), (4, 5)]), np.array([(6, -1), (7, 8), (9, 2)])
    found = Suspects(pairs, np.array([0.9, 0.8, 0.7]), better, 0.3, 10)
    again = Suspects.of(found.arrays())
    np.testing.assert_array_equal(again.pairs, pairs)
    assert (again.share, again.examined, again.unrelated) == (0.3, 10, False)
    fewer = found.without(np.array([2]), np.array([6]))
    np.testing.assert_array_equal(fewer.pairs, [(0, 1), (4, 5)])
    np.testing.assert_array_equal(fewer.better, [(-1, -1), (9, -1)])
