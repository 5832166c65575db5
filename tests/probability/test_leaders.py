"""What is seen of an account's best candidate, against loops, and the two-stage logistic models of it."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted as networked

from kedge.config import Config
from kedge.context import RunContext
from kedge.methods import METHODS
from kedge.probability.candidates import scale_of, shortlist, signals
from kedge.probability.choice import PRIOR, examples, fit_weights, logits, pool, probabilities
from kedge.probability.leaders import COLUMNS, clustering, find_leaders, fit_leaders, log_odds, sigmoid


def test_a_choice_agrees_with_loops() -> None:
    rng = np.random.default_rng(0)
    account, z = rng.integers(6, size=30), rng.normal(0, 20, 30)
    found = probabilities(z, account, 7)
    for i in range(30):
        rivals = z[account == account[i]]
        assert found[i] == pytest.approx(np.exp(z[i]) / (1 + np.exp(rivals).sum()), rel=1e-9)


def test_leaders_agree_with_loops() -> None:
    problem, _ = networked(n=80, anchors=20, seed=1)
    alignment = METHODS["evidence"].align(problem, Config(method="evidence"), RunContext())
    pairs = shortlist(problem, alignment, 5)
    values = signals(pairs, scale_of([pairs]))
    z = logits(PRIOR, values)
    chosen = probabilities(z, pairs.left, 80), probabilities(z, pairs.right, 80)
    found = find_leaders(problem, pairs, values, chosen)
    anchored = [set(column.tolist()) for column in problem.anchors.T]
    networks = (problem.left, problem.right)
    for side in (0, 1):
        own, other = (pairs.left, pairs.right)[:: 1 - 2 * side]
        for account in range(80):
            rows = np.flatnonzero(own == account)
            if len(rows) == 0:
                assert found[side].row[account] == -1
                assert (found[side].columns[account] == 0).all()
                continue
            best = max(rows, key=lambda i: chosen[0][i] * chosen[1][i])
            assert found[side].row[account] == best
            ends = (account, other[best])
            degree, known = [], []
            for end, at in zip(ends, (side, 1 - side), strict=True):
                adjacency = networks[at].adjacency
                near = adjacency.indices[adjacency.indptr[end] : adjacency.indptr[end + 1]]
                degree.append(np.log1p(len(near)))
                known.append(np.log1p(len(anchored[at] & set(near.tolist()))))
            odds = [np.log(chosen[at][best] / (1 - chosen[at][best])) / 3 for at in (side, 1 - side)]
            seen = values[best] if side == 0 else values[best][[0, 2, 1, 3, 5, 4]]
            expected = [*odds, min(odds), *seen, -abs(degree[0] - degree[1])]
            expected += [degree[0] - 2, min(degree) - 2, known[0] - 1, min(known) - 1, side - 0.5]
            np.testing.assert_allclose(found[side].columns[account], expected, atol=1e-9)


def test_examples_of_both_sides_are_pooled() -> None:
    problem, test = networked(n=80, anchors=20, seed=1)
    alignment = METHODS["evidence"].align(problem, Config(method="evidence"), RunContext())
    pairs = shortlist(problem, alignment, 5)
    values = signals(pairs, scale_of([pairs]))
    one = examples(pairs, values, test)
    partner = dict(test.tolist())
    listed = [(u, v) for u, v in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)]
    from_left = [partner[u] == v for u, v in listed if u in partner]
    back = {v: u for u, v in partner.items()}
    from_right = [back[v] == u for u, v in listed if v in back]
    np.testing.assert_array_equal(one.true, [*from_left, *from_right])
    both = pool([one, one])
    assert both.n == 2 * one.n == len(np.unique(both.account))
    theta, loss = fit_weights(one)
    assert (theta[1:] >= 0).all()
    assert loss < fit_weights(both)[1] < 2.2 * loss
    nothing = fit_weights(pool([]))
    np.testing.assert_allclose(nothing[0], PRIOR)


def test_predictions_are_by_models_that_did_not_see_the_anchor_and_come_true() -> None:
    rng = np.random.default_rng(3)
    columns = np.zeros((4000, COLUMNS))
    columns[:, :3] = rng.normal(size=(4000, 3))
    columns[:, -2] = rng.normal(size=4000)
    x = 1.5 * columns[:, 0] - 1.0 * columns[:, -2]
    true = (rng.random(4000) < sigmoid(x)).astype(float)
    fitted = fit_leaders(columns, true, np.ones(4000), np.arange(4000))
    assert np.corrcoef(fitted.predicted, x)[0, 1] > 0.98
    np.testing.assert_allclose(fitted.model.log_odds(columns), fitted.predicted, atol=0.5)
    assert fitted.model.weights[1] == pytest.approx(1.5, abs=0.25)
    assert fitted.model.weights[-2] == pytest.approx(-1.0, abs=0.25)
    order = np.argsort(fitted.predicted)
    for part in np.array_split(order, 8):
        assert sigmoid(fitted.predicted[part]).mean() == pytest.approx(true[part].mean(), abs=0.05)


def test_candidates_that_do_well_never_count_against_a_pair() -> None:
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(300, COLUMNS))
    true = (rng.random(300) < sigmoid(-2 * columns[:, 0])).astype(float)
    assert fit_leaders(columns, true, np.ones(300), np.arange(300)).model.weights[1] == 0


def test_an_overconfident_model_is_corrected_at_the_upper_end() -> None:
    """Few anchors, many columns of noise: what others predict of each fifth shows how far the model goes astray."""
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(40, COLUMNS))
    true = (rng.random(40) < 0.5).astype(float)
    fitted = fit_leaders(columns, true, np.ones(40), np.arange(40))
    trusted, raw = fitted.model.log_odds(columns), fitted.model.raw_log_odds(columns)
    assert np.abs(trusted).mean() < 0.7 * np.abs(raw).mean()


def test_log_odds_are_finite_and_invert() -> None:
    p = np.array([0.0, 1e-9, 0.2, 0.5, 1.0])
    assert np.isfinite(log_odds(p)).all()
    np.testing.assert_allclose(sigmoid(log_odds(p)), np.clip(p, 1e-6, 1 - 1e-6))


def _rows(known: list[int], degree: list[int]) -> np.ndarray:
    """Rows of which only the account's anchored neighbours and its degree are seen."""
    rows = np.zeros((len(known), COLUMNS))
    rows[:, 12], rows[:, 10] = np.log1p(known) - 1, np.log1p(degree) - 2
    return rows


def test_clustering_agrees_with_loops() -> None:
    rng = np.random.default_rng(3)
    degree = rng.integers(1, 9, 40)
    known = np.minimum(rng.integers(0, 5, 40), degree)
    share = known / degree
    more = [(a > b) + (abs(a - b) < 1e-12) / 2 for a in share[:15] for b in share[15:]]
    rows = _rows(known.tolist(), degree.tolist())
    assert clustering(rows[:15], rows[15:]) == pytest.approx(max(0.0, 2 * np.mean(more) - 1), abs=1e-9)
    assert clustering(_rows([3, 4], [4, 4]), _rows([0, 1], [5, 5])) == pytest.approx(1.0)
    assert clustering(_rows([0], [5]), _rows([3], [4])) == 0.0  # anchors apart from each other are not clustered
    assert clustering(rows[:0], rows) == 0.0


def test_log_odds_are_moderated_by_the_variance_where_anchors_are_clustered() -> None:
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(60, COLUMNS))
    true = (columns[:, 0] + rng.normal(size=60) > 0).astype(float)
    plain = fit_leaders(columns, true, np.ones(60), np.arange(60)).model
    apart, half = plain.moderated(0.0), plain.moderated(0.5)
    x = plain.trusted(plain.raw_log_odds(columns))
    np.testing.assert_allclose(apart.log_odds(columns), x)
    # the Hessian of the loss, entry by entry
    rows = np.column_stack([np.ones(60), columns])
    p = [sigmoid(np.array(row @ plain.weights)) for row in rows]
    strength = [0.05, *[1.0] * 10, *[3.0] * 5]
    hessian = np.zeros((COLUMNS + 1, COLUMNS + 1))
    for j in range(COLUMNS + 1):
        for k in range(COLUMNS + 1):
            hessian[j, k] = sum(row[j] * q * (1 - q) * row[k] for row, q in zip(rows, p, strict=True))
        hessian[j, j] += strength[j]
    inverse = np.linalg.inv(hessian)
    for i in range(5):
        variance = 2 * 0.5**2 * rows[i] @ inverse @ rows[i]
        assert half.log_odds(columns)[i] == pytest.approx(x[i] / np.sqrt(1 + np.pi / 8 * variance), rel=1e-9)
    assert (np.abs(half.log_odds(columns)) < np.abs(x)).all()
