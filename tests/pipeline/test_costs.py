"""What a match will take, as it is told before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import kedge
from kedge_problems import planted

from kedge.config import resolve
from kedge.ingest.checks import estimate_cost
from kedge.pipeline.costs import count_refinements


@pytest.mark.parametrize(
    ("settings", "anchors", "expected"),
    [
        ([], 30, 6 * 3),
        ([], 200, 6 * 1),
        ([], 0, 0),
        (["decide.folds=1"], 30, 2 * 3),
        (["pairing.use=yes", "pairing.refinements=2"], 30, 6 * 2),
        (["pairing.use=yes", "pairing.refinements=0", "pairing.mixture=[1, 1, 1, 1, 1, 1]"], 30, 6 * 1),
        (["pairing.use=no"], 30, 0),
        (["pairing.accounts=10"], 30, 0),
        (["pairing.use=yes", "pairing.vectors=mgcn"], 30, 6 * 3),
        (["evidence.form=dense"], 30, 0),
        (["evidence.form=dense", "pairing.use=yes"], 30, 6 * 3),
        (["method=evidence"], 30, 0),
    ],
)
def test_the_estimate_of_cost_knows_how_often_near_accounts_are_searched_for(
    settings: Any, anchors: int, expected: Any
) -> None:
    """In the run and in five with hidden anchors; a mixture alone searches once too."""
    problem = planted(30)
    config = resolve(assignments=["method=kedge", *settings])
    found = count_refinements(problem.left, problem.right, anchors, config)
    assert found == expected
    alone, more = (estimate_cost(problem.left, problem.right, count) for count in (0, found))
    assert (more > alone) == (expected > 0)


def test_check_estimates_the_cost_of_embeddings_or_names_the_anchors_as_missing(tmp_path: Path) -> None:
    kedge("synth", "-o", tmp_path / "data", "--nodes", "300", "-q")
    files = [tmp_path / "data" / name for name in ("left.tsv", "right.tsv")]
    without = kedge("check", *files).stdout
    assert "embeddings add to that, depending on the anchors" in without
    known = kedge("check", *files, "--anchors", tmp_path / "data" / "anchors.tsv").stdout
    assert "depending on the anchors" not in known
    assert "will take roughly" in known
