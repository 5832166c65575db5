"""The dense form of evidence, and the choice between the forms."""

from __future__ import annotations

import evidence_oracle as oracle
import numpy as np
import pytest
from evidence_problems import planted

from kedge.config import EvidenceConfig
from kedge.evidence.forms import FORMS, choose, propagate_dense
from kedge.evidence.model import Evidence


def test_the_dense_form_starts_from_the_oracles_log_odds() -> None:
    problem, _ = planted(seed=5)
    got = propagate_dense(problem, EvidenceConfig(keep=1000))
    want = oracle.log_odds(problem, got.support.toarray())
    rows, columns = got.log_odds.nonzero()
    np.testing.assert_allclose(got.log_odds.toarray()[rows, columns], want[rows, columns], atol=2e-3)
    sums = got.beliefs.toarray()[np.setdiff1d(np.arange(40), problem.anchors[:, 0])].sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=0.2)


def test_the_choice_needs_enough_anchors_and_small_networks() -> None:
    problem, _ = planted(n=100, anchors=40)
    assert choose(problem, EvidenceConfig(), 0) == "sparse"
    problem, _ = planted(n=150, anchors=90)
    assert choose(problem, EvidenceConfig(dense_cells=100), 0) == "sparse"
    assert choose(problem, EvidenceConfig(), 0) in FORMS


@pytest.mark.parametrize(
    ("dense", "runs", "form"), [(0.9, 2, "dense"), (0.1, 2, "sparse"), (0.5, 6, "sparse"), (0.52, 6, "dense")]
)
def test_the_choice_asks_no_more_anchors_than_it_takes(
    monkeypatch: pytest.MonkeyPatch, dense: float, runs: int, form: str
) -> None:
    """Held-back anchors have reciprocal ranks of `dense` by the dense form and of 0.5 by the sparse one, give or take
    0.3."""
    problem, _ = planted(n=100, anchors=90, seed=3)
    tried = []

    def ranks(scores: Evidence, held: np.ndarray) -> np.ndarray:
        tried.append(scores)
        alternating = np.resize([0.3, -0.3], len(held))
        return dense + alternating if scores.balanced else np.full(len(held), 0.5)

    monkeypatch.setattr("kedge.evidence.forms.ranking_scores", lambda evidence: evidence)
    monkeypatch.setattr("kedge.evidence.forms.reciprocal_ranks", ranks)
    assert choose(problem, EvidenceConfig(), 0) == form
    assert len(tried) == runs
