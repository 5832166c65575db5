"""The sample of an audit: keyed by ids, extended and never drawn anew, and two kinds of answers in one log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from audits import made_matches

from kedge.answers import AUDIT_PREFIX, replay
from kedge.answers.audit import draw
from kedge.answers.replay import Resolved
from kedge.store.decisions import Conflict, DecisionLog


def test_the_order_of_rows_and_of_accounts_changes_nothing() -> None:
    matches = made_matches(300)
    sample = draw(matches, 40, 7)
    order = np.random.default_rng(0).permutation(len(matches))
    columns = ("left", "right", "rank", "score", "probability", "margin", "decision", "counterpart", "assigned")
    shuffled = replace(matches, **{name: getattr(matches, name)[order] for name in columns})
    assert draw(shuffled, 40, 7) == sample
    mirrored = replace(
        matches, left_ids=matches.right_ids, right_ids=matches.left_ids, left=matches.right, right=matches.left
    )
    assert set(draw(mirrored, 40, 7).pairs) == {(b, a) for a, b in sample.pairs}
    assert set(draw(matches, 40, 8).pairs) != set(sample.pairs), "another seed, another sample"


def test_a_sample_is_extended_and_never_shrinks() -> None:
    matches = made_matches(300)
    sample = draw(matches, 40, 7)
    answered = sample.answered(dict.fromkeys(sample.pairs[:5], "yes"))
    longer = draw(matches, 60, 7, answered)
    assert len(longer) == 60
    assert longer.pairs[:40] == sample.pairs, "those asked first stay first"
    assert longer.answer[:5] == ("yes",) * 5
    assert draw(matches, 20, 7, longer) == longer
    assert set(longer.pairs) == set(draw(matches, 60, 7).pairs), "as if 60 had been asked at once"
    assert sample.stratum.count("below") == 10


def test_the_sample_stays_when_the_run_is_decided_with_another_threshold() -> None:
    matches = made_matches(300)
    sample = draw(matches, 40, 7)
    other = replace(matches, threshold=0.3, decision=np.where(matches.probability >= 0.3, 2, 1))
    assert draw(other, 40, 7, sample) == sample
    assert sample.is_of(other)
    assert not sample.is_of(replace(matches, assigned=matches.probability > 0.5))


def test_more_pairs_than_there_are_ask_all_of_them() -> None:
    matches = made_matches(30)
    assert sorted(draw(matches, 1000, 0).pairs) == sorted((f"a{i}", f"b{i}") for i in range(9, 30)), "from 0.3 on"


def test_answers_of_an_audit_are_kept_apart_in_one_log(tmp_path: Path) -> None:
    path = tmp_path / "decisions.sqlite"
    review = DecisionLog(path)
    review.append("ann", "yes", "a1", "b1", run="r")
    audit = DecisionLog(path, audit=True)
    entry = audit.append("ann", "no", "a1", "b1", run="r")
    assert entry.run == f"{AUDIT_PREFIX}r"
    assert audit.state.verdict(("a1", "b1")) == "no"
    assert review.refresh().verdict(("a1", "b1")) == "yes"
    assert review.state.resolved().rejected == ()
    with pytest.raises(Conflict):
        review.undo("ann", entry.seq)
    assert audit.undo("ann") is not None
    assert audit.state.verdict(("a1", "b1")) is None
    assert review.refresh().verdict(("a1", "b1")) == "yes"
    assert review.verify() == audit.verify() == 3
    assert replay(review.state.entries, audit=True).pairs() == []
    review.close()
    audit.close()


def test_review_and_audit_that_disagree_are_in_dispute() -> None:
    review = Resolved((("a", "b"), ("c", "d")), (("e", "f"),), (), ())
    audit = Resolved((("e", "g"), ("c", "x")), (("a", "b"),), (), ())
    both = review.joined(audit)
    assert both.confirmed == (("e", "g"),), "c is confirmed with two"
    assert both.rejected == (("e", "f"),)
    assert both.disputed == (("a", "b"),)
