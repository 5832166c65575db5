"""The share with a counterpart, from densities with a known mixture."""

from __future__ import annotations

import numpy as np
import pytest

from kedge.probability.counterpart import Moments, Seen, count_moments, estimate_share


def side(rng: np.random.Generator, share: float, weaker: float = 0.0, anchors: int = 600, n: int = 4000) -> Moments:
    """Accounts with a counterpart score N(3, 1), those without N(0, 1), or lower by `weaker` than decoys do."""
    has = rng.random(n) < share
    everyone = np.where(has, rng.normal(3, 1, n), rng.normal(-weaker, 1, n))
    active = rng.normal(2, 1, n)
    return count_moments(
        Seen(rng.normal(3, 1, anchors), rng.normal(2, 1, anchors), anchors),
        Seen(rng.normal(0, 1, anchors // 3), rng.normal(2, 1, anchors // 3), anchors // 3),
        Seen(everyone, active, n),
    )


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("weaker", [0.0, 1.0, 8.0])
def test_the_share_is_near_the_truth_also_where_those_without_are_weaker_than_decoys(
    share: float, weaker: float
) -> None:
    rng = np.random.default_rng(0)
    found = estimate_share([side(rng, share, weaker) for _ in range(2)], (4000, 4000))
    np.testing.assert_allclose(found.mean, share, atol=0.06)


def test_unequal_sides_have_equally_many_with_a_counterpart() -> None:
    rng = np.random.default_rng(1)
    found = estimate_share([side(rng, 1.0, n=1000), side(rng, 0.25, 3.0)], (1000, 4000))
    assert found.mean[0] * 1000 == pytest.approx(found.mean[1] * 4000, rel=0.1)
    assert found.mean[1] == pytest.approx(0.25, abs=0.03)


def test_no_more_have_one_than_the_smaller_side_has_accounts() -> None:
    rng = np.random.default_rng(2)
    found = estimate_share([side(rng, 1.0), side(rng, 1.0)], (4000, 800))
    assert found.mean[0] == pytest.approx(0.2)


def test_the_share_follows_activity_where_anchors_are_the_active_ones() -> None:
    """Active accounts score higher and nearly all have a counterpart, others seldom; anchors are active."""
    rng = np.random.default_rng(3)
    sides = []
    for _ in range(2):
        active = rng.normal(2, 1, 4000)
        has = rng.random(4000) < 1 / (1 + np.exp(-1.5 * (active - 2)))
        lift = 0.7 * (active - 2)
        everyone = np.where(has, rng.normal(3, 1, 4000), rng.normal(0, 1, 4000)) + lift
        of_anchors = rng.normal(2.8, 1, 800)
        anchored = Seen(rng.normal(3, 1, 800) + 0.7 * (of_anchors - 2), of_anchors, 800)
        decoys = Seen(rng.normal(0, 1, 800) + 0.7 * (of_anchors - 2), of_anchors, 800)
        sides.append(count_moments(anchored, decoys, Seen(everyone, active, 4000)))
    found = estimate_share(sides, (4000, 4000))
    np.testing.assert_allclose(found.mean, 0.5, atol=0.08)
    assert (found.line[:, 1] > 0.3).all(), "the active ones have a counterpart more often"
    low, high = found.log_odds(0, np.array([1.0, 3.0]), sides[0].centre)
    assert low < 0 < high


def test_moments_agree_with_loops() -> None:
    rng = np.random.default_rng(4)
    anchored = Seen(rng.normal(2, 1, 50), rng.normal(2, 1, 50), 25)
    decoys = Seen(np.append(rng.normal(0, 1, 19), -np.inf), rng.normal(2, 1, 20), 20)
    everyone = Seen(rng.normal(1, 1, 400), rng.normal(2, 1, 400), 200)
    found = count_moments(anchored, decoys, everyone)
    edges = np.quantile(everyone.active, [0.25, 0.5, 0.75])
    assert found.centre == pytest.approx(everyone.active.mean())
    for tail in (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2):
        at = np.sort(anchored.score)[int(np.ceil((1 - tail) * 49))]
        above = np.mean([score >= at for score in anchored.score])
        without = (sum(score >= at for score in decoys.score) + above / 2) / 21
        if without <= 0.15 * above:
            break
    for k in range(4):
        inside = [i for i, x in enumerate(everyone.active) if sum(x > edge for edge in edges) == k]
        mine = [i for i, x in enumerate(anchored.active) if sum(x > edge for edge in edges) == k]
        assert found.everyone[k] == pytest.approx(np.mean([everyone.score[i] >= at for i in inside]))
        passing = sum(anchored.score[i] >= at for i in mine)
        share = (passing / 2 + 4 * above) / (len(mine) / 2 + 4)  # two rows show one anchor
        assert found.anchored[k] == pytest.approx(share)
        assert found.variance[1, k] == pytest.approx(share * (1 - share) / (len(mine) / 2 + 1))
        assert found.size[k] == pytest.approx(len(inside) / 2)


def test_without_anchors_or_accounts_the_prior_remains() -> None:
    nothing = Seen(np.empty(0), np.empty(0), 0)
    empty = count_moments(nothing, nothing, nothing)
    found = estimate_share([empty, empty], (0, 0))
    assert (found.mean > 0.9).all()
    assert np.isfinite(found.line).all()
    known = estimate_share([empty, empty], (100, 100), (0.3, 0.3))
    np.testing.assert_allclose(known.mean, 0.3, atol=0.02)
