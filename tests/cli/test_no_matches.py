"""A match that finds nothing to call and nothing to review says so in a line, without an empty table."""

from __future__ import annotations

from pathlib import Path

from command import kedge as call


def test_no_pair_to_review_is_a_sentence(tmp_path: Path) -> None:
    call("synth", "-o", tmp_path / "data", "--nodes", "300", "-q")
    data = tmp_path / "data"
    words = ("match", data / "left.tsv", data / "right.tsv", "--anchors", data / "train.tsv", "--counterparts", "0")
    out = call(*words, "-o", tmp_path / "run").stdout
    assert "No matches, and no pair that is worth a review" in out
    assert "probability" not in out
