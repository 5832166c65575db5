"""`kedge evaluate`: the same metrics as `kedge match`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command import kedge


def test_evaluate_agrees_with_match(pair: Any, run: Any) -> None:
    again = json.loads(kedge("evaluate", run, "--test", pair / "test.tsv", "--json").stdout)
    first = json.loads((run / "metrics.json").read_text())
    assert again == first


def test_a_directory_without_a_run_is_refused(tmp_path: Path) -> None:
    for words in (["export", tmp_path, "-o", tmp_path / "x.csv"], ["evaluate", tmp_path, "--test", tmp_path]):
        assert "is no run" in kedge(*words, code=2).stderr
