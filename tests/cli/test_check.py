"""`kedge check`: facts and a cost estimate."""

from __future__ import annotations

import json
from typing import Any

from command import kedge


def test_check_shows_facts_and_cost(pair: Any) -> None:
    words = ("check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv")
    report = json.loads(kedge(*words, "--json", "-q").stdout)
    assert report["left"]["accounts"] == 400
    assert report["anchors"]["listed"]["found"] == report["anchors"]["listed"]["rows"]
    assert 0 < report["anchors"]["overlap"] <= 1
    text = kedge(*words).stdout
    assert "edge overlap" in text
    assert "CPU seconds" in text
