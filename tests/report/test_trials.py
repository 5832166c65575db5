"""The figure of how builders were chosen: a bar per trial, the chosen one named, refused ones in the table alone."""

from __future__ import annotations

from kedge.hypergraph.choice import BuilderChoice
from kedge.pipeline.model_card import _trials
from kedge.report.trials import trial_figure

CHOICE = BuilderChoice("b", "AUC", "a network", (("a", 0.5, ""), ("b", 0.75, ""), ("c", None, "too large"))).facts()


def test_each_trial_is_a_bar_and_a_row_and_refused_ones_are_rows_alone() -> None:
    made = trial_figure("both networks", CHOICE)
    assert made.name == "training-builders-both-networks"
    assert made.rows == (("a", "0.5000"), ("b", "0.7500"), ("c", "refused: too large"))
    chart = str(made.chart)
    assert "b, chosen" in chart
    assert "0.7500" in chart
    assert ">c<" not in chart
    assert made.caption == "b was chosen by AUC, on a network."


def test_the_model_card_has_the_same_rows() -> None:
    assert _trials(CHOICE)[-3:] == ["| `a` | 0.5000 |", "| `b` | 0.7500 |", "| `c` | refused: too large |"]
