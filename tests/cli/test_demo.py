"""`kedge demo`: the main job on a planted pair."""

from __future__ import annotations

import json
from pathlib import Path

from command import kedge

from kedge.synthetic import EXAMPLE_FILES, read_example

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


def test_the_examples_files_are_written_once(tmp_path: Path) -> None:
    printed = kedge("demo", "--files", tmp_path / "data").stdout
    for name in EXAMPLE_FILES:
        assert (tmp_path / "data" / name).read_bytes() == read_example(name)
        assert name in printed
    (tmp_path / "data" / "known.csv").write_text("mine")
    refused = kedge("demo", "--files", tmp_path / "data", code=2).stderr
    assert refused.count("\n") == 1
    assert "--force" in refused
    assert (tmp_path / "data" / "known.csv").read_text() == "mine"
    summary = json.loads(kedge("demo", "--files", tmp_path / "data", "--force", "--json").stdout)
    assert len(summary["files"]) == len(EXAMPLE_FILES)
    assert (tmp_path / "data" / "known.csv").read_bytes() == read_example("known.csv")


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert "give a directory" in kedge("demo", "--files", tmp_path / "data", code=2).stderr
