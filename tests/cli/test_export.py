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


def test_export_guards_formulas_on_request(tmp_path: Path) -> None:
    rows = ["=cmd()\tx0", "x0\tx1", "x1\t=cmd()", "x1\tx2"]
    for side in "lr":
        (tmp_path / f"{side}.tsv").write_text("\n".join(rows))
    (tmp_path / "a.tsv").write_text("x0\tx0\nx1\tx1\n")
    files = [tmp_path / name for name in ("l.tsv", "r.tsv")]
    kedge("match", *files, "--anchors", tmp_path / "a.tsv", "-o", tmp_path / "run", "-q")
    kedge("export", tmp_path / "run", "-o", tmp_path / "plain.csv")
    kedge("export", tmp_path / "run", "-o", tmp_path / "safe.csv", "--excel-safe")
    assert "\n=cmd()" in (tmp_path / "plain.csv").read_text() or '"=cmd()' in (tmp_path / "plain.csv").read_text()
    assert "'=cmd()" in (tmp_path / "safe.csv").read_text()
