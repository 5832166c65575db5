"""Decisions make the next match better: they are learnt, named, part of the run's identity, and survive --force."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command import kedge
from command import match_words as all_match_words
from reviewing import QUICK_WORDS
from tampering import update

from kedge.answers.learn import learn
from kedge.pipeline import load_outcome
from kedge.probability.folds import draw_parts
from kedge.store import DECISIONS_FILE, load_decided, open_finished
from kedge.store.decisions import DecisionLog
from kedge.types import Network, Problem


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair") / "data"
    kedge("synth", "-o", folder, "--nodes", 300, "--overlap", 0.8, "--seed", 3, "-q")
    return folder


def match_words(pair: Path, out: Path, *more: object) -> list[object]:
    return all_match_words(pair, out, *QUICK_WORDS, *more)


def decided(run: Path) -> DecisionLog:
    return DecisionLog(run / DECISIONS_FILE)


def test_a_match_learns_from_decisions(pair: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    before = json.loads(kedge(*match_words(pair, run, "--json", "-q")).stdout)
    assert before["decisions"] == {"confirmed": 0, "rejected": 0}
    truth = dict(csv.reader((pair / "test.tsv").read_text().splitlines(), delimiter="\t"))
    old = open_finished(run)
    problem, matches, _ = load_decided(old)
    solution = load_outcome(run)
    assert (matches.left == solution.matches.left).all()
    assert (matches.right == solution.matches.right).all()
    assert (matches.decision == solution.matches.decision).all()
    assert np.allclose(matches.probability, solution.matches.probability, atol=1e-6)
    rows = np.flatnonzero(matches.assigned)[:60]
    log = decided(run)
    yes: list[tuple[str, str]] = []
    no: list[tuple[str, str]] = []
    for row in rows:
        ids = problem.left.name(matches.left[row]), problem.right.name(matches.right[row])
        right = truth.get(ids[0]) == ids[1]
        (yes if right else no).append(ids)
        log.append("ann", "yes" if right else "no", *ids)
    assert yes
    assert no
    result = kedge(*match_words(pair, run, "--json"))
    after = json.loads(result.stdout)
    assert after["decisions"] == {"confirmed": len(yes), "rejected": len(no)}
    assert f"{len(yes)} confirmed pairs are anchors now, {len(no)} rejected pairs are ruled out" in result.stderr
    assert "saving the left network: already done" in result.stderr
    assert "scoring pairs ..." in result.stderr
    new = open_finished(run)
    problem, matches, _ = load_decided(new)
    assert new.manifest["run_id"] != old.manifest["run_id"]
    known = {(problem.left.name(u), problem.right.name(v)) for u, v in problem.anchors}
    assert set(yes) <= known
    listed = {(problem.left.name(u), problem.right.name(v)) for u, v in zip(matches.left, matches.right, strict=True)}
    assert not listed & set(no)
    assert not {u for u, _ in listed} & {u for u, _ in yes}
    again = kedge(*match_words(pair, run, "--json"))
    assert "deciding: already done" in again.stderr, "the same decisions need no work"
    log.append("bob", "unsure", *no[0], note="nothing that a match learns from")
    assert "deciding: already done" in kedge(*match_words(pair, run)).stderr
    log.undo("ann")
    assert "deciding ..." in kedge(*match_words(pair, run)).stderr
    log.close()


def test_decisions_survive_force_and_other_settings_are_still_refused(pair: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    kedge(*match_words(pair, run, "-q"))
    problem, *_ = load_decided(open_finished(run))
    log = decided(run)
    log.append("ann", "no", problem.left.name(0), problem.right.name(0))
    log.close()
    assert "seed: 0 -> 5" in kedge(*match_words(pair, run, "--seed", 5), code=2).stderr
    result = kedge(*match_words(pair, run, "--force", "--seed", 5, "--json"))
    assert json.loads(result.stdout)["decisions"]["rejected"] == 1
    assert decided(run).verify() == 1


def test_a_forged_log_stops_the_match(pair: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    kedge(*match_words(pair, run, "-q"))
    log = decided(run)
    log.append("ann", "no", "a", "b")
    log.close()
    update("action = 'yes'", 1)(run)
    for words in (match_words(pair, run), ["decisions", run, "verify"], ["review", run, "--no-open"]):
        assert "decision 1 was changed" in kedge(*words, code=2).stderr


def test_a_log_that_is_gone_stops_the_match_until_force(pair: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    kedge(*match_words(pair, run, "-q"))
    problem, *_ = load_decided(open_finished(run))
    log = decided(run)
    log.append("ann", "no", problem.left.name(0), problem.right.name(0))
    log.close()
    kedge(*match_words(pair, run, "-q"))
    learnt = json.loads((run / "manifest.json").read_text())["inputs"]["decisions"]
    assert (learnt["count"], learnt["head"]) == (1, log.head)
    for file in run.glob(f"{DECISIONS_FILE}*"):
        file.unlink()
    for words in (match_words(pair, run), ["decisions", run, "verify"], ["review", run, "--no-open"]):
        assert "the log has only 0 entries: 1 were recorded" in kedge(*words, code=2).stderr
    result = kedge(*match_words(pair, run, "--force", "--json"))
    assert json.loads(result.stdout)["decisions"] == {"confirmed": 0, "rejected": 0}
    assert "there are no decisions yet" in kedge("decisions", run, "verify", code=2).stderr


def test_decisions_are_exported_and_verified(pair: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    kedge(*match_words(pair, run, "-q"))
    assert "there are no decisions yet" in kedge("decisions", run, "verify", code=2).stderr
    log = decided(run)
    log.append("ann", "yes", 'a "quoted"\tid', "x,y")
    log.append("ann", "yes", "=cmd()", "@y")
    log.append("ann", "no", "b", "y")
    log.append("ann", "yes", "c", "z")
    log.append("ann", "yes", "c", "w")
    result = kedge("decisions", run, "export", "-o", tmp_path / "yes.tsv", "--rejected", tmp_path / "no.csv", "--json")
    assert json.loads(result.stdout)["contradictions"] == 1
    assert "several confirmed partners" in result.stderr
    assert list(csv.reader((tmp_path / "yes.tsv").read_text().splitlines(), delimiter="\t")) == [
        ["left", "right"],
        ["'=cmd()", "'@y"],
        ['a "quoted"\tid', "x,y"],
    ]
    kedge("decisions", run, "export", "-o", tmp_path / "yes.tsv", "--raw", "--force")
    assert '"=cmd()"\t"@y"' in (tmp_path / "yes.tsv").read_text()
    assert list(csv.reader((tmp_path / "no.csv").read_text().splitlines())) == [["left", "right"], ["b", "y"]]
    assert "exists already" in kedge("decisions", run, "export", "-o", tmp_path / "yes.tsv", code=2).stderr
    assert log.head in kedge("decisions", run, "verify").stdout
    assert "export or verify" in kedge("decisions", run, "burn", code=2).stderr
    assert "needs a file" in kedge("decisions", run, "export", code=2).stderr
    assert ".tsv or .csv" in kedge("decisions", run, "export", "-o", tmp_path / "x.parquet", code=2).stderr
    assert "no such run" in kedge("review", tmp_path / "nowhere", "--no-open", code=2).stderr
    assert "is not a name" in kedge("review", run, "--no-open", "--reviewer", " ", code=2).stderr
    assert "every address" in kedge("review", run, "--no-open", "--host", "0.0.0.0", code=2).stderr
    log.close()


def small(anchors: Sequence[tuple[int, int]] = ((0, 0),)) -> Problem:
    ring = [(i, (i + 1) % 6) for i in range(6)]
    return Problem(Network.from_edges(ring, 6), Network.from_edges(ring, 6), np.array(anchors))


def test_what_the_user_gave_wins_over_decisions_against_it(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "d.sqlite")
    for verdict, left, right in (
        ("yes", "0", "0"), ("yes", "0", "3"), ("yes", "1", "1"), ("no", "0", "0"), ("no", "2", "3"), ("yes", "9", "9"),
    ):  # fmt: skip
        log.append("ann" if verdict == "yes" else "bob", verdict, left, right)
    log.undo("ann", 1)
    log.undo("ann", 2)
    log.append("ann", "yes", "0", "4")
    problem, learned = learn(small(), log.state.resolved())
    assert problem.anchors.tolist() == [[0, 0], [1, 1]]
    assert problem.rejected.tolist() == [[2, 3]]
    assert (learned.confirmed, learned.rejected) == (1, 1)
    words = " ".join(learned.notes)
    for part in ("in neither network", "contradict a given anchor", "among the given anchors"):
        assert part in words
    log.close()


def test_confirmed_pairs_are_never_held_out() -> None:
    anchors = [(i, i) for i in range(6)]
    parts = draw_parts(small(anchors), 0.5, 4, given=4)
    assert len(parts) == 2
    for part in parts:
        assert set(part.rows.tolist()) < {0, 1, 2, 3}
        assert part.roles.shape == (2, 2)
