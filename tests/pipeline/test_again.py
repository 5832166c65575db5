"""`kedge decide`: other decisions of a finished run, in all its files at once, and still there after the next match."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import kedge, match_words, plant
from killing import Killed, kill_at
from reviewing import QUICK_WORDS

from kedge.pipeline.again import decide_again
from kedge.store import load_contents, open_artefacts, read_manifest, reviewing, write_manifest

ASSETS = Path(__file__).parents[1] / "assets"

WORDS = [*QUICK_WORDS, "--set=decide.precision=0.6"]  # the pair is small: at 0.9 there is no match


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("again")
    plant(folder / "data")
    kedge(*match_words(folder / "data", folder / "run", *WORDS, "-q"))
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "run", tmp_path / "run"))


def decided(run: Path) -> dict[str, Any]:
    """The decisions of a run, after a check that all its files have the same."""
    contents, facts = load_contents(run), json.loads((run / "decided.json").read_text())
    rows = contents.table.to_pylist()
    called = [row for row in rows if row["assigned"] and row["probability"] >= contents.threshold]
    assert [row for row in rows if row["decision"] == "match"] == called
    assert len(called) == facts["match"]
    assert contents.threshold == facts["threshold"]
    page = json.loads(re.search(r'id="facts">(.*?)</script>', (run / "report.html").read_text())[1])
    assert page["decisions"] == {name: facts[name] for name in ("match", "review", "no match")}
    assert page["threshold"] == facts["threshold"]
    return facts


def test_another_threshold_changes_every_file_and_nothing_is_matched(run: Path) -> None:
    before, figures = decided(run), json.loads((run / "metrics.json").read_text())
    scores = read_manifest(run)["stages"]["scores"]
    summary = json.loads(kedge("decide", run, "--threshold", 0.2, "--json").stdout)
    after = decided(run)
    assert after["threshold"] == summary["threshold"] == 0.2
    assert after["match"] > before["match"]
    new = json.loads((run / "metrics.json").read_text())
    assert new["match_recall"] >= figures["match_recall"]
    assert new["match_precision"] != figures["match_precision"]
    assert new["hits1"] == figures["hits1"]
    assert summary["metrics"] == new
    assert read_manifest(run)["stages"]["scores"] == scores
    # The settings of the report are those in force.
    settings = json.loads(re.search(r'id="facts">(.*?)</script>', (run / "report.html").read_text())[1])["settings"]
    assert {"name": "decide.threshold", "default": None, "here": 0.2} in settings


def test_the_first_share_is_the_one_that_decided(run: Path) -> None:
    for words in ((), ("--counterparts", "0.3"), ("--precision", "0.8")):
        if words:
            kedge("decide", run, *words)
        now = decided(run)
        assert now["counterparts"][0]["matches"] == now["match"]
        assert now["counterparts"][0]["expected_precision"] == pytest.approx(now["expected_precision"])
    shares = [row["share"] for row in now["counterparts"][1:]]
    assert shares == sorted(shares)
    assert len(shares) == 4


def test_precision_takes_the_place_of_a_threshold(run: Path) -> None:
    first = decided(run)
    kedge("decide", run, "--threshold", 0.2)
    kedge("decide", run, "--precision", 0.6)
    assert decided(run) == first, "0.6 is what the run had"
    assert "decide" not in read_manifest(run)
    strict = json.loads(kedge("decide", run, "--precision", 0.99, "--json").stdout)
    assert strict["match"] < first["match"]
    assert strict["settings"] == {"precision": 0.99, "threshold": None, "assignment": "optimal", "counterparts": None}


def test_a_precision_of_one_calls_nothing_and_the_reason_is_one_line(run: Path) -> None:
    result = kedge("decide", run, "--precision", 1)
    assert decided(run)["match"] == 0
    assert decided(run)["expected_precision"] is None
    assert result.stderr.count("\n") == 1
    assert "with a precision or threshold of 1 nothing is called a match" in result.stderr


def test_left_accounts_may_share_a_partner(run: Path) -> None:
    kedge("decide", run, "--threshold", 0, "--one-to-one", "off")
    rows = [row for row in load_contents(run).table.to_pylist() if row["decision"] == "match"]
    assert len({row["right"] for row in rows}) < len(rows)
    kedge("decide", run, "--one-to-one", "greedy")
    rows = [row for row in load_contents(run).table.to_pylist() if row["decision"] == "match"]
    assert len({row["right"] for row in rows}) == len(rows)
    assert decided(run)["threshold"] == 0, "what is not given stays"


def test_the_same_match_keeps_the_decisions_and_force_starts_anew(made: Path, run: Path) -> None:
    first = decided(run)
    kedge("decide", run, "--threshold", 0.2)
    chosen, stages = decided(run), read_manifest(run)["stages"]
    words = match_words(made / "data", run, *WORDS)
    again = kedge(*words, "--json")
    assert decided(run) == chosen
    assert json.loads(again.stdout)["matches"] == chosen["match"]
    assert read_manifest(run)["stages"] == stages, "nothing was computed again"
    assert "decided with threshold 0.2, as `kedge decide` chose" in again.stderr
    other = kedge(*words, "--set", "decide.threshold=0.4", code=2).stderr
    assert "`kedge decide` changes decisions without matching again" in other
    kedge(*words, "-q", "--force")
    assert decided(run) == first


def test_the_advice_of_the_report_works_word_for_word(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (run / "report.html").read_text()
    advice = re.sub("<.*?>", "", re.search(r"<code>(kedge decide .*?)</code>", page)[1])
    monkeypatch.chdir(run.parent)
    before = decided(run)
    kedge(*shlex.split(advice)[1:])
    assert decided(run) == before, "the advice is for the threshold that is shown: the run's own"


def test_an_open_review_and_an_unfinished_run_are_one_line(run: Path) -> None:
    before = (run / "manifest.json").read_bytes()
    with reviewing(run):
        error = kedge("decide", run, "--threshold", 0.2, code=2).stderr
    assert "a `kedge review` of this run is open" in error
    assert error.count("\n") == 1
    assert (run / "manifest.json").read_bytes() == before
    manifest = read_manifest(run)
    del manifest["stages"]["matches"]
    write_manifest(run, manifest)
    error = kedge("decide", run, "--threshold", 0.2, code=2).stderr
    assert "the run is not finished" in error
    assert error.count("\n") == 1


def test_a_kill_leaves_the_old_decisions_or_the_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Path(shutil.copytree(ASSETS / "run-format-6" / "kedge", tmp_path / "old"))
    kedge("report", old)
    threshold = load_contents(old).threshold
    fates = []
    for step in (2, 6, 10, *range(12, 60, 2)):
        copy = Path(shutil.copytree(old, tmp_path / f"run{step}"))
        with monkeypatch.context() as patch:
            kill_at(patch, step)
            try:
                decide_again(copy, {"threshold": 0.21}, lambda _: None)
                break
            except Killed:
                pass
        at = load_contents(copy).threshold  # completes what was committed; every file is checked
        assert at in (threshold, 0.21)
        assert all(open_artefacts(copy).is_whole(name) for name in ("metrics.json", "evaluation.json"))
        decided_at = json.loads((copy / "decided.json").read_text())["threshold"]
        page = json.loads(re.search(r'id="facts">(.*?)</script>', (copy / "report.html").read_text())[1])
        assert page["threshold"] == decided_at == at
        fates.append(at == 0.21)
    assert fates == sorted(fates)
    assert len(set(fates)) == 2, "some kills came before the change counted, some after"
