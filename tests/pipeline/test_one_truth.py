"""The same counts, threshold and expected precision in every face, and held-out pairs that stay held out."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import kedge, match_words, plant
from reviewing import QUICK, QUICK_WORDS, Browser

import kedge as package
from kedge.config import flatten
from kedge.review.data import load_review
from kedge.store import DECISIONS_FILE, HELD_OUT, TABLE, hold_run, load_decided, open_finished
from kedge.store.decisions import DecisionLog

PRECISION = 0.6  # the pair is small: at 0.9 there is no match
WORDS = [*QUICK_WORDS, f"--set=decide.precision={PRECISION}"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truth")
    plant(folder / "data")
    return folder


@pytest.fixture(scope="module")
def matched(made: Path) -> dict[str, Any]:
    """The summary of a match without held-out pairs; its run is in `made`."""
    words = match_words(made / "data", made / "run", *WORDS, "--json", "-q")
    del words[words.index("--test") : words.index("--test") + 2]
    return dict(json.loads(kedge(*words).stdout))


@pytest.fixture
def run(made: Path, matched: dict[str, Any], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "run", tmp_path / "run"))


def facts_of(run: Path) -> dict[str, Any]:
    """The numbers that the report's page has inside."""
    return dict(json.loads(re.search(r'id="facts">(.*?)</script>', (run / "report.html").read_text())[1]))


def again(made: Path, run: Path, *more: object) -> Any:
    words = match_words(made / "data", run, *WORDS, *more)
    if "--test" not in more:
        del words[words.index("--test") : words.index("--test") + 2]
    return kedge(*words)


@pytest.mark.parametrize("threshold", [None, 0.4])
def test_all_faces_give_the_same_counts(
    made: Path, matched: dict[str, Any], run: Path, threshold: float | None
) -> None:
    if threshold is not None:
        kedge("decide", run, "--threshold", threshold)
        matched = json.loads(again(made, run, "--json", "-q").stdout)
        assert matched["threshold"] == threshold
    assert matched["matches"] > 5
    expected: Any = (matched["matches"], matched["threshold"], pytest.approx(matched["expected_precision"], abs=1e-9))
    decided = json.loads((run / "decided.json").read_text())
    assert (decided["match"], decided["threshold"], decided["expected_precision"]) == expected
    facts = facts_of(run)
    at = facts["thresholds"].index(facts["threshold"])
    assert facts["matches"][at] == facts["decisions"]["match"] == matched["matches"]
    assert facts["review"][at] == facts["decisions"]["review"] == decided["review"]
    assert facts["decisions"]["no match"] == decided["no match"]
    assert facts["threshold"] == matched["threshold"]
    assert facts["expected_right"][at] / facts["matches"][at] == pytest.approx(matched["expected_precision"], abs=1e-3)
    data, log = load_review(run), DecisionLog(run / DECISIONS_FILE)
    progress = Browser(data, log).get("/api/progress")
    log.close()
    assert (progress["pairs"], data.matches.threshold, progress["precision_now"]) == expected
    settings = {**flatten(QUICK), "decide.precision": PRECISION}
    settings |= {} if threshold is None else {"decide.threshold": threshold}
    files = [str(made / "data" / f"{name}.tsv") for name in ("left", "right", "train")]
    found = package.match(*files, settings=settings)
    called = [row for row in found.matches if row.decision == "match"]
    assert (len(called), found.threshold) == expected[:2]
    rows = list(csv.DictReader(kedge("export", run, "-o", "-").stdout.splitlines()))
    assert sum(row["decision"] == "match" for row in rows) == matched["matches"]


def test_progress_is_about_what_will_be_exported(run: Path) -> None:
    data, log = load_review(run), DecisionLog(run / DECISIONS_FILE)
    browser = Browser(data, log)
    matches = data.matches
    called = [row for row in data.queue.tolist() if matches.decision[row] == 2]
    open_ = [row for row in data.queue.tolist() if matches.decision[row] == 1]
    name = lambda row: (data.problem.left.name(matches.left[row]), data.problem.right.name(matches.right[row]))  # noqa: E731
    log.append("ann", "no", *name(called[0]))
    log.append("ann", "yes", *name(open_[0]))
    log.append("ann", "yes", *name(called[1]))
    log.append("ann", "yes", data.problem.left.name(matches.left[called[2]]), name(open_[1])[1])
    progress = browser.get("/api/progress")
    log.close()
    rows = list(csv.DictReader(kedge("export", run, "-o", "-").stdout.splitlines()))
    exported = [row for row in rows if row["decision"] != "known"]
    assert progress["pairs"] == len(exported)
    assert progress["precision_now"] == pytest.approx(sum(float(r["probability"]) for r in exported) / len(exported))


def test_evaluate_is_stored_and_a_later_match_keeps_it(made: Path, run: Path) -> None:
    assert facts_of(run)["metrics"] is None
    test = made / "data" / "test.tsv"
    figures = json.loads(kedge("evaluate", run, "--test", test, "--json").stdout)
    assert json.loads((run / "metrics.json").read_text()) == figures
    assert facts_of(run)["metrics"] == figures
    assert facts_of(run)["test"]["test_pairs"] == figures["test_pairs"]
    assert json.loads(again(made, run, "--json", "-q").stdout)["metrics"] == figures
    assert facts_of(run)["metrics"] == figures
    kedge("decide", run, "--threshold", 0.1)
    assert facts_of(run)["metrics"]["match_recall"] >= figures["match_recall"]
    assert facts_of(run)["metrics"]["match_precision"] != figures["match_precision"]
    assert facts_of(run)["test_curve"]["pairs"] == figures["test_pairs"]
    head = test.read_text().splitlines()[:20]
    (run.parent / "fewer.tsv").write_text("\n".join(head))
    kedge("evaluate", run, "--test", run.parent / "fewer.tsv")
    assert facts_of(run)["metrics"]["test_pairs"] == 20, "the last one counts"


def test_figures_of_a_run_that_is_held_by_another_are_printed_and_not_saved(made: Path, run: Path) -> None:
    before = (run / "manifest.json").read_bytes()
    with hold_run(run):
        result = kedge("evaluate", run, "--test", made / "data" / "test.tsv", "--json")
    assert json.loads(result.stdout)["test_pairs"] > 20
    assert "the figures are not saved in the run" in result.stderr
    assert (run / "manifest.json").read_bytes() == before


def test_confirmed_pairs_are_never_counted_as_held_out(made: Path, run: Path) -> None:
    test = made / "data" / "test.tsv"
    held_out = [tuple(line.split("\t")) for line in test.read_text().splitlines()]
    first = json.loads(again(made, run, "--test", test, "--json", "-q").stdout)["metrics"]
    log = DecisionLog(run / DECISIONS_FILE)
    for pair in held_out[:3]:
        log.append("ann", "yes", *pair)
    for words in (("--test", test), ()):
        result = again(made, run, *words, "--json")
        assert json.loads(result.stdout)["metrics"]["test_pairs"] == first["test_pairs"] - 3
        assert "3 held-out pairs are anchors by now and are not used in the evaluation" in result.stderr
        assert facts_of(run)["metrics"]["test_pairs"] == first["test_pairs"] - 3
    problem, *_ = load_decided(open_finished(run))
    known = {(problem.left.name(u), problem.right.name(v)) for u, v in problem.anchors}
    assert set(held_out[:3]) <= known
    figures = json.loads(kedge("evaluate", run, "--test", test, "--json").stdout)
    assert figures["test_pairs"] == first["test_pairs"] - 3
    log.close()


def test_a_purged_account_leaves_the_held_out_pairs(made: Path, run: Path) -> None:
    kedge("evaluate", run, "--test", made / "data" / "test.tsv")
    left, right = (made / "data" / "test.tsv").read_text().splitlines()[0].split("\t")
    kedge("purge", "--yes", run, left)
    table = open_finished(run).read(HELD_OUT, TABLE)
    assert left not in table["left"].to_pylist()
    assert right not in table["right"].to_pylist()
    assert table.num_rows > 20
