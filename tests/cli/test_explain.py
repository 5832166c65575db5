"""`kedge explain`: evidence that adds up, also for a rejected pair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command import kedge


def test_explain_adds_up_also_for_a_pair_that_is_rejected(run: Any, tmp_path: Path) -> None:
    rows = pq.read_table(run / "matches.parquet").to_pylist()
    best = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    other = next(row["right"] for row in rows if row["right"] != best["right"])
    for right in (best["right"], other):
        told = json.loads(kedge("explain", run, best["left"], right, "--json").stdout)
        parts = told["prior"] + told["vectors"] + sum(reason["weight"] for reason in told["hits"] + told["misses"])
        assert told["log_odds"] == pytest.approx(parts)
    told = json.loads(kedge("explain", run, best["left"], best["right"], "--json").stdout)
    assert told["probability"] == pytest.approx(best["probability"])
    assert told["hits"], "there is evidence for the surest match"
    assert told["steps"][1]["given_counterpart"] * told["counterpart"] == pytest.approx(best["probability"])
    plot = tmp_path / "why.svg"
    text = kedge("explain", run, best["left"], best["right"], "--plot", plot).stdout
    assert best["left"] in text
    assert "total log-odds" in text
    assert f"= {best['probability']:.3f}" in text
    assert plot.read_text().startswith("<svg")
    assert "no left account 'nobody'" in kedge("explain", run, "nobody", best["right"], code=2).stderr
    assert "exchange the two" in kedge("explain", run, best["right"], best["left"], code=2).stderr


def test_a_method_that_does_not_explain_has_rivals_and_counterpart(pair: Any, tmp_path: Path) -> None:
    networks = (pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "anchors.tsv")
    kedge("match", *networks, "-o", tmp_path / "run", "--method", "common-neighbours", "--set", "decide.folds=1", "-q")
    rows = pq.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    best = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    told = json.loads(kedge("explain", tmp_path / "run", best["left"], best["right"], "--json").stdout)
    assert told["log_odds"] is None
    assert told["score"] == pytest.approx(best["score"])
    assert told["competition"]["given_counterpart"] * told["counterpart"] == pytest.approx(best["probability"])
    text = kedge("explain", tmp_path / "run", best["left"], best["right"]).stdout
    assert f"not known of single neighbours; score {best['score']:.1f}"[:-2] in text
    assert f"= {best['probability']:.3f}" in text


def test_explain_notes_that_candidates_are_in_another_order(pair: Any, tmp_path: Path) -> None:
    from kedge.review.data import load_review

    settings = (
        "pairing.use=yes",
        "pairing.refinements=1",
        "pairing.mixture=[0.1, 0.1, 0.5, 1.0, 0.5, 0]",
        "decide.folds=1",
    )
    words = [word for setting in settings for word in ("--set", setting)]
    networks = (pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "anchors.tsv")
    kedge("match", *networks, "-o", tmp_path / "run", *words, "-q")
    rows = pq.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    best = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    told = json.loads(kedge("explain", tmp_path / "run", best["left"], best["right"], "--json").stdout)
    (note,) = told["notes"]
    assert load_review(tmp_path / "run").reordered
    assert "similarity 1.00" in note
    parts = told["prior"] + told["vectors"] + sum(reason["weight"] for reason in told["hits"] + told["misses"])
    assert told["log_odds"] == pytest.approx(parts), "the waterfall still adds up"
