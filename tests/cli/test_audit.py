"""`kedge audit`: a sample, answers read back, and decisions, export, report and purge that follow."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from audits import answer
from command import kedge, match_words

from kedge.store import load_sample, open_artefacts


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run, tmp_path / "run"))


@pytest.fixture(scope="session")
def truth(pair: Path) -> dict[str, str]:
    return dict(line.split("\t")[:2] for line in (pair / "anchors.tsv").read_text().splitlines())


def audited(copy: Path, truth: dict[str, str]) -> list[dict[str, str]]:
    kedge("audit", copy)
    rows = answer(copy / "audit.csv", copy.parent / "answers.csv", truth)
    kedge("audit", copy, "--read", copy.parent / "answers.csv", "--reviewer", "ann")
    return rows


def exported(run: Path) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(kedge("export", run, "-o", "-").stdout.splitlines())
    return {row["left"]: row for row in rows}


def decided(run: Path) -> Any:
    return json.loads((run / "decided.json").read_text())


def test_the_sample_is_written_once_and_extended(copy: Path) -> None:
    assert "40 pairs in" in kedge("audit", copy).stdout
    first = (copy / "audit.csv").read_text()
    assert first.splitlines()[0] == '"left","right","answer","stratum","probability"'
    assert "none is answered" in kedge("audit", copy).stdout
    assert kedge("audit", copy, "-o", "-").stdout == first
    before = (copy / "audit.json").read_bytes()
    assert "exists already" in kedge("audit", copy, "--answers", 60, code=2).stderr
    assert (copy / "audit.json").read_bytes() == before, "nothing is drawn where it cannot be written"
    kedge("audit", copy, "--answers", 60, "-o", copy.parent / "more.csv")
    assert (copy.parent / "more.csv").read_text().startswith(first)
    assert len((copy.parent / "more.csv").read_text().splitlines()) == 61


def test_answers_change_decisions_export_and_report(copy: Path, truth: dict[str, str]) -> None:
    matches = decided(copy)["match"]
    rows = audited(copy, truth)
    found = decided(copy)["audit"]
    called = [row for row in rows if row["stratum"] == "match"]
    right = sum(row["answer"] == "yes" for row in called)
    assert (found["drawn"]["audited"], found["drawn"]["right"], found["drawn"]["matches"]) == (30, right, matches)
    assert found["drawn"]["precision"] == pytest.approx(right / 30)
    assert found["drawn"]["low"] < right / 30 < found["drawn"]["high"] or right == 30
    table = exported(copy)
    for row in rows:
        if row["answer"] == "yes":
            shown = table[row["left"]]
            assert (shown["right"], shown["decision"], shown["source"]) == (row["right"], "confirmed", "audit")
        else:
            assert table.get(row["left"], {}).get("right") != row["right"]
    counts = [shown["decision"] for shown in table.values()]
    assert counts.count("match") + counts.count("confirmed") == decided(copy)["match"], "one count everywhere"
    sentence = f"of 30 audited matches {right} were right"
    assert sentence in kedge("audit", copy).stdout
    assert sentence in (copy / "report.html").read_text()
    assert sentence in kedge("decide", copy, "--precision", 0.8).stdout
    assert json.loads(kedge("audit", copy, "--json").stdout)["audit"]["yes"] == found["yes"]


def test_evaluate_shows_the_audit_next_to_held_out_figures(copy: Path, pair: Path, truth: dict[str, str]) -> None:
    assert "Audit" not in kedge("evaluate", copy, "--test", pair / "test.tsv").stdout
    audited(copy, truth)
    assert "Audit: of 30 audited matches" in kedge("evaluate", copy, "--test", pair / "test.tsv").stdout
    assert json.loads(kedge("evaluate", copy, "--test", pair / "test.tsv", "--json").stdout)["audit"]["asked"] == 40


def test_matching_again_keeps_the_audit_and_takes_no_answer_as_anchor(
    copy: Path, pair: Path, truth: dict[str, str]
) -> None:
    anchors = (copy / "networks" / "anchors.npz").read_bytes()
    audited(copy, truth)
    before = decided(copy), (copy / "matches.parquet").read_bytes()
    kedge(*match_words(pair, copy, "-q"))
    assert (decided(copy), (copy / "matches.parquet").read_bytes()) == before
    assert (copy / "networks" / "anchors.npz").read_bytes() == anchors
    (copy / "audit.json").write_text("{}")
    kedge("audit", copy, code=2)
    kedge(*match_words(pair, copy, "-q"))
    assert decided(copy)["audit"] is None, "its sample is gone, so decisions are those without it"
    kedge("audit", copy, "-o", "-")
    assert decided(copy)["audit"] == before[0]["audit"], "the same sample is drawn, and its answers are in the log"


def test_a_purged_account_is_in_no_file_of_the_audit(copy: Path, truth: dict[str, str]) -> None:
    rows = audited(copy, truth)
    name = rows[0]["left"]
    assert name in (copy / "audit.csv").read_text()
    result = kedge("purge", "--yes", copy, name)
    assert "still contains" not in result.stderr
    assert name not in (copy / "audit.csv").read_text() + (copy / "audit.json").read_text()
    sample = load_sample(open_artefacts(copy))
    assert sample is not None
    assert len(sample) == 39
    assert len((copy / "audit.csv").read_text().splitlines()) == 40
    assert "Audit: of" in kedge("audit", copy).stdout


def test_contradicting_reviewers_count_as_no_answer(copy: Path, truth: dict[str, str]) -> None:
    rows = audited(copy, truth)
    other = copy.parent / "other.csv"
    flipped = {**truth, rows[0]["left"]: "another" if rows[0]["answer"] == "yes" else rows[0]["right"]}
    answer(copy / "audit.csv", other, flipped, most=1)
    result = kedge("audit", copy, "--read", other, "--reviewer", "bob")
    assert "reviewers disagree on 1 pairs" in result.stderr
    assert decided(copy)["audit"]["open"] == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--answers", 0], "--answers is 0; ask for 1 or more"),
        (["--answers", -3], "--answers is -3; ask for 1 or more"),
        (["--read", "x.csv", "--answers", 5], "--read reads answers"),
        (["-o", "-", "--json"], "both for stdout"),
        (["--read", "EMPTY"], "no row has an answer"),
        (["--read", "EMPTY", "--reviewer", "\n"], "--reviewer is not a name"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(copy: Path, words: list[object], problem: str) -> None:
    if "EMPTY" in words:
        kedge("audit", copy)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    given = [copy / "audit.csv" if word == "EMPTY" else word for word in words]
    result = kedge("audit", copy, *given, code=2)
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    after = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file() and "lock" not in path.name}
    assert after == {path: content for path, content in before.items() if "lock" not in path.name}


def test_answers_before_a_sample_are_refused(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("left,right,answer\na,b,yes\n")
    assert "no sample was drawn" in kedge("audit", copy, "--read", tmp_path / "a.csv", code=2).stderr
