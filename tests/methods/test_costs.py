"""Estimates of cost: every method has one, it grows with the networks, and it is near what whole matches took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kedge.config import resolve
from kedge.methods import METHODS
from kedge.methods.shared.costs import estimate_seconds
from kedge.probability import count_folds

KEPT: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "docs" / "results" / "estimates.json").read_text("utf-8")
)
# Its runs within a match took more than the single one that its constants are fitted to.
BEYOND = {"node2vec"}


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.chooses_settings])
def test_every_method_has_an_estimate_that_grows(name: str) -> None:
    config = resolve(overrides={"method": name})
    small, more_runs, large = (
        estimate_seconds(METHODS[name], config, accounts, 5 * accounts, runs)
        for accounts, runs in ((600, 3), (600, 15), (6_000, 3))
    )
    assert small is not None
    assert more_runs is not None
    assert large is not None
    assert 0 < small < more_runs
    assert small < large


def test_training_counts_its_steps() -> None:
    few, many = (
        estimate_seconds(METHODS["mgcn"], resolve("paper", overrides={"mgcn.steps": steps}), 600, 3_000, 15)
        for steps in (100, 300)
    )
    assert few is not None
    assert many is not None
    assert few < many


@pytest.mark.parametrize("row", KEPT["matches"], ids=lambda row: f"{row['method']}-{row['nodes']}")
def test_estimates_are_within_a_factor_of_whole_matches(row: dict[str, Any]) -> None:
    config = resolve(row.get("preset", "default"), overrides={"method": row["method"]})
    runs = count_folds(row["anchors"], config.decide.holdout, config.decide.folds)
    estimated = estimate_seconds(METHODS[row["method"]], config, 2 * row["nodes"], row["edges"], runs)
    if estimated is not None and row["cpu"] is not None and row["method"] not in BEYOND:
        assert max(estimated / row["cpu"], row["cpu"] / estimated) < 1.5
