"""`kedge export`: columns, formats, and cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command import kedge


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_export_writes_the_promised_columns(run: Any, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"m.{kind}"
    kedge("export", run, "--candidates", 3, "--format", kind, "-o", out)
    if kind == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
    elif kind == "json":
        rows = json.loads(out.read_text())
    else:
        rows = pq.read_table(out).to_pylist()
    assert list(rows[0]) == ["left", "right", "rank", "score", "probability"]
    by_left: dict[str, list[int]] = {}
    for row in rows:
        by_left.setdefault(row["left"], []).append(int(row["rank"]))
        assert 0 <= float(row["probability"]) <= 1
    assert all(ranks == list(range(1, len(ranks) + 1)) and len(ranks) <= 3 for ranks in by_left.values())
    result = kedge("export", run, "-o", out, code=2)
    assert "exists already" in result.stderr
    kedge("export", run, "-o", out, "--force")


@pytest.fixture(scope="module")
def handles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on networks with ids that spreadsheets run."""
    folder = tmp_path_factory.mktemp("handles")
    rows = ["=cmd()\tx0", "x0\tx1", "x1\t=cmd()", "x1\tx2"]
    for side in "lr":
        (folder / f"{side}.tsv").write_text("\n".join(rows))
    (folder / "a.tsv").write_text("x0\tx0\nx1\tx1\n")
    files = [folder / name for name in ("l.tsv", "r.tsv")]
    kedge("match", *files, "--anchors", folder / "a.tsv", "-o", folder / "run", "-q")
    return folder / "run"


def test_csv_is_safe_for_spreadsheets_unless_raw_is_asked_for(handles: Path, tmp_path: Path) -> None:
    result = kedge("export", handles, "-o", tmp_path / "safe.csv")
    kedge("export", handles, "-o", tmp_path / "raw.csv", "--raw")
    kedge("export", handles, "-o", tmp_path / "old.csv", "--excel-safe")
    safe, raw = (list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines())) for name in ("safe", "raw"))
    assert {row["left"] for row in raw} == {"=cmd()", "x2"}
    assert [row["left"].removeprefix("'") for row in safe] == [row["left"] for row in raw]
    assert {row["left"] for row in safe} == {"'=cmd()", "x2"}
    assert [row["score"] for row in safe] == [row["score"] for row in raw], "numbers are no formulas"
    assert (tmp_path / "old.csv").read_bytes() == (tmp_path / "safe.csv").read_bytes()
    assert "cells that a spreadsheet would run as formulas begin with an apostrophe; --raw" in result.stderr


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_other_formats_are_exact(handles: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"m.{kind}"
    result = kedge("export", handles, "-o", out)
    rows = json.loads(out.read_text()) if kind == "json" else pq.read_table(out).to_pylist()
    assert {row["left"] for row in rows} == {"=cmd()", "x2"}
    assert result.stderr == ""
