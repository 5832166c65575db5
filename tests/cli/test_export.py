"""`kedge export`: the crosswalk, candidates, formats, and cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge

from kedge.context import extras
from kedge.store import DECISIONS_FILE, load_decided, open_finished
from kedge.store.decisions import DecisionLog

CROSSWALK = ["left", "right", "decision", "probability", "counterpart", "margin", "source"]


def read(out: Path) -> list[dict[str, Any]]:
    if out.suffix == ".csv":
        return list(csv.DictReader(out.read_text().splitlines()))
    return list(json.loads(out.read_text()) if out.suffix == ".json" else pq.read_table(out).to_pylist())


def exported(run: Path, *words: object) -> list[dict[str, Any]]:
    return list(csv.DictReader(kedge("export", run, "-o", "-", *words).stdout.splitlines()))


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_the_crosswalk_has_each_left_account_with_a_partner_once(run: Any, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"m.{kind}"
    kedge("export", run, "-o", out)
    rows = read(out)
    assert list(rows[0]) == CROSSWALK
    assert len({row["left"] for row in rows}) == len(rows)
    problem, matches, _ = load_decided(open_finished(run))
    known = {(problem.left.name(u), problem.right.name(v)) for u, v in problem.anchors}
    named = lambda pairs: {(problem.left.name(u), problem.right.name(v)) for u, v in pairs.items()}  # noqa: E731
    first, rest = rows[: len(known)], rows[len(known) :]
    assert {(row["left"], row["right"]) for row in first} == known
    assert {(row["decision"], row["source"], float(row["probability"])) for row in first} == {("known", "anchors", 1.0)}
    assert {(row["left"], row["right"]) for row in rest} == named(matches.partners("match"))
    assert {(row["decision"], row["source"]) for row in rest} == {("match", "kedge")}
    falling = [float(row["probability"]) for row in rest]  # as printed: ids order what is equal before rounding
    assert falling == sorted(falling, reverse=True)
    assert [row["left"] for row in first] == sorted(row["left"] for row in first)
    assert {row["margin"] for row in first} == {"" if kind == "csv" else None}
    result = kedge("export", run, "-o", out, code=2)
    assert "exists already" in result.stderr
    kedge("export", run, "-o", out, "--force")


def test_all_has_every_left_account_once(run: Any) -> None:
    rows = exported(run, "--all")
    problem, *_ = load_decided(open_finished(run))
    assert sorted(row["left"] for row in rows) == sorted(problem.left.ids.to_pylist())
    decided = json.loads((run / "decided.json").read_text())
    counts = {word: sum(row["decision"] == word for row in rows) for word in ("match", "review", "no match")}
    assert counts == {word: decided[word] for word in counts}
    order = [("known", "confirmed", "match", "review", "no match").index(row["decision"]) for row in rows]
    assert order == sorted(order)


def test_reviewers_answers_are_in_the_crosswalk_at_once(run: Any, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    matches = exported(copy, "--matches-only")
    assert {row["decision"] for row in matches} == {"match"}
    yes, no, moved, taken = matches[:4]
    log = DecisionLog(copy / DECISIONS_FILE)
    log.append("ann", "yes", yes["left"], yes["right"])
    log.append("ann", "no", no["left"], no["right"])
    log.append("ann", "yes", moved["left"], taken["right"])
    rows = {row["left"]: row for row in exported(copy)}
    assert (rows[yes["left"]]["decision"], rows[yes["left"]]["source"]) == ("confirmed", "review")
    assert rows[moved["left"]]["right"] == taken["right"]
    assert not {no["left"], taken["left"]} & set(rows), "rejected, and its partner confirmed with another"
    everything = {row["left"]: row for row in exported(copy, "--all")}
    assert (everything[no["left"]]["decision"], everything[no["left"]]["source"]) == ("no match", "review")
    log.undo("ann")
    assert {row["left"]: row["right"] for row in exported(copy)}[moved["left"]] == moved["right"]
    log.close()


def test_candidates_fall_with_their_rank(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    kedge("export", run, "--candidates", 3, "-o", out)
    rows = read(out)
    names = ["left", "right", "rank", "probability", "decision", "counterpart", "margin", "method_score"]
    assert list(rows[0]) == names
    by_left: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_left.setdefault(row["left"], []).append(row)
    for listed in by_left.values():
        assert [row["rank"] for row in listed] == list(range(1, len(listed) + 1))
        assert len(listed) <= 3
        assert (np.diff([row["probability"] for row in listed]) <= 0).all()
    assert {row["decision"] for row in rows} == {"match", "review", "no match"}


def test_more_candidates_than_the_run_saved_change_no_decision(run: Any) -> None:
    called = {(row["left"], row["right"]) for row in exported(run, "--matches-only")}
    rows = exported(run, "--candidates", 40)
    assert max(int(row["rank"]) for row in rows) > 10
    assert {(row["left"], row["right"]) for row in rows if row["decision"] == "match"} == called
    assert sum(row["decision"] == "review" for row in rows) == json.loads((run / "decided.json").read_text())["review"]


def test_stdout_has_the_data_and_nothing_else(run: Any, tmp_path: Path) -> None:
    result = kedge("export", run, "-o", "-")
    kedge("export", run, "-o", tmp_path / "m.csv")
    assert result.stdout_bytes == (tmp_path / "m.csv").read_bytes()
    assert result.stderr == ""
    assert json.loads(kedge("export", run, "-o", "-", "--format", "json").stdout)[0]["decision"] == "known"


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
    result = kedge("export", handles, "--all", "-o", tmp_path / "safe.csv")
    kedge("export", handles, "--all", "-o", tmp_path / "raw.csv", "--raw")
    kedge("export", handles, "--all", "-o", tmp_path / "old.csv", "--excel-safe")
    safe, raw = (read(tmp_path / f"{name}.csv") for name in ("safe", "raw"))
    assert {row["left"] for row in raw} == {"=cmd()", "x0", "x1", "x2"}
    assert [row["left"].removeprefix("'") for row in safe] == [row["left"] for row in raw]
    assert {row["left"] for row in safe} == {"'=cmd()", "x0", "x1", "x2"}
    assert [row["margin"] for row in safe] == [row["margin"] for row in raw], "numbers are no formulas"
    assert (tmp_path / "old.csv").read_bytes() == (tmp_path / "safe.csv").read_bytes()
    assert "cells that a spreadsheet would run as formulas begin with an apostrophe; --raw" in result.stderr


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_other_formats_are_exact(handles: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"m.{kind}"
    result = kedge("export", handles, "--all", "-o", out)
    assert {row["left"] for row in read(out)} == {"=cmd()", "x0", "x1", "x2"}
    assert result.stderr == ""


def test_a_workbook_has_texts_and_no_formulas(handles: Path, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    for name in ("one", "two"):
        kedge("export", handles, "--all", "-o", tmp_path / f"{name}.xlsx")
    content = (tmp_path / "one.xlsx").read_bytes()
    assert content == (tmp_path / "two.xlsx").read_bytes()
    book = zipfile.ZipFile(io.BytesIO(content))
    sheet, texts = (book.read(f"xl/{name}.xml").decode() for name in ("worksheets/sheet1", "sharedStrings"))
    assert "<t>=cmd()</t>" in texts
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet


def test_a_workbook_without_its_library_is_one_line(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    error = kedge("export", run, "-o", tmp_path / "m.xlsx", code=2).stderr
    assert error == "kedge: the format xlsx needs xlsxwriter; install with: pip install 'kedge[xlsx]'\n"
    assert list(tmp_path.iterdir()) == []
