"""The first hour of a newcomer: the README as it stands, then own data matched, answered for and exported."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Final

import pyarrow.csv
import pyarrow.parquet
import pytest
from command import kedge
from page_blocks import blocks, run_page

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text("utf-8")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def cpu_seconds() -> float:
    return time.process_time()


def test_the_readme_leads_to_a_report_in_two_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpu_seconds: float
) -> None:
    """CPU seconds, so that a busy machine makes no difference; `make package` adds installing and compiling."""
    monkeypatch.chdir(tmp_path)
    run_page(README)
    assert time.process_time() - cpu_seconds < 120
    assert "<html" in (tmp_path / "run" / "report.html").read_text("utf-8")
    rows = _rows(tmp_path / "crosswalk.csv")
    assert list(rows[0]) == ["left", "right", "decision", "probability", "counterpart", "margin", "source"]
    assert {row["decision"] for row in rows} == {"known", "match"}


def test_every_block_of_the_readme_runs_or_states_why_not() -> None:
    assert all(block.language in {"sh", "python"} for block in blocks(README))
    assert [block.reason.partition(":")[0].partition(";")[0] for block in blocks(README) if block.reason] == [
        "`make package` installs into a new environment in CI",
        "it serves until ^C",
    ]


def test_own_data_is_matched_answered_for_and_exported_in_ten_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpu_seconds: float
) -> None:
    """Files as people have them: other names of columns, another delimiter, Parquet on one side."""
    monkeypatch.chdir(tmp_path)
    kedge("demo", "--files", "data", "-q")
    calls = (tmp_path / "data" / "left.csv").read_text().replace("source,target", "caller,callee").replace(",", ";")
    (tmp_path / "calls.csv").write_text(calls)
    mails = pyarrow.csv.read_csv("data/right.csv").rename_columns(["sender", "recipient"])
    pyarrow.parquet.write_table(mails, "mails.parquet")

    kedge("check", "calls.csv", "mails.parquet", "--anchors", "data/known.csv")
    kedge("match", "calls.csv", "mails.parquet", "--anchors", "data/known.csv", "-o", "run", "-q")
    kedge("audit", "run", "-q")
    truth = {(row["left"], row["right"]) for row in _rows(tmp_path / "data" / "held-out.csv")}
    asked = _rows(tmp_path / "run" / "audit.csv")
    with (tmp_path / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "answer"])
        writer.writerows([r["left"], r["right"], "yes" if (r["left"], r["right"]) in truth else "no"] for r in asked)
    assert "were right" in kedge("audit", "run", "--read", "answers.csv").output
    kedge("export", "run", "-o", "crosswalk.csv")
    assert time.process_time() - cpu_seconds < 600
    assert {row["decision"] for row in _rows(tmp_path / "crosswalk.csv")} == {"known", "confirmed", "match"}
