"""`kedge demo`: the main job on a planted pair."""

from __future__ import annotations

import json
from pathlib import Path

from command import kedge

METRICS = (
    "hits1 hits5 hits10 mrr left_to_right right_to_left matched_hits1 macro_precision macro_recall macro_f1 ece "
    "match_precision match_sample_precision match_recall"
).split()


def test_demo_prints_the_same_object_as_match(tmp_path: Path) -> None:
    summary = json.loads(kedge("demo", "-o", tmp_path / "demo", "--json", "-q").stdout)
    assert set(METRICS) <= summary["metrics"].keys()
    assert summary["metrics"]["hits1"] > 0.2
    assert (tmp_path / "demo" / "matches.parquet").exists()
    manifest = json.loads((tmp_path / "demo" / "manifest.json").read_text())
    assert {"versions", "seed", "inputs", "config", "stages"} <= manifest.keys()
