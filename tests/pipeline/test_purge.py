"""`kedge purge` forgets a person: out of every file of the run, for good, and the chain of decisions stays whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import kedge, match_words
from reviewing import QUICK_WORDS
from scipy.sparse import csr_array

from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.pipeline import load_outcome
from kedge.pipeline.inputs import forget_accounts
from kedge.store import (
    DECISIONS_FILE,
    load_contents,
    load_decided,
    open_finished,
    read_manifest,
    reviewing,
    write_manifest,
)
from kedge.store.decisions import DecisionLog
from kedge.types import Network, Problem


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("purge")
    kedge("synth", "-o", folder / "data", "--nodes", 200, "--overlap", 0.9, "--seed", 3, "-q")
    kedge(*match_words(folder / "data", folder / "run", *QUICK_WORDS, "-q"))
    return folder


@pytest.fixture
def run(made: Any, tmp_path: Path) -> Any:
    return shutil.copytree(made / "run", tmp_path / "run")


def log_of(run: Any) -> DecisionLog:
    return DecisionLog(run / DECISIONS_FILE)


def assigned_pairs(run: Any) -> list[Any]:
    problem, matches, _ = load_decided(open_finished(run))
    rows = np.flatnonzero(matches.assigned)
    return [(problem.left.name(matches.left[row]), problem.right.name(matches.right[row])) for row in rows]


def names_in(run: Any) -> set[Any]:
    problem = load_contents(run).problem
    table = load_contents(run).table
    return {*problem.left.ids.to_pylist(), *problem.right.ids.to_pylist(), *table["left"].to_pylist(),
            *table["right"].to_pylist()}  # fmt: skip


def test_no_file_of_the_run_names_a_purged_account_and_matching_again_does_not_bring_it_back(
    made: Any, run: Any
) -> None:
    (alice, partner), other, *_ = assigned_pairs(run)
    log = log_of(run)
    log.append("ann", "yes", alice, partner, note=f"{alice} it is")
    log.append("ann", "yes", *other, note=f"not {alice}")
    log.close()
    before = read_manifest(run)
    said = json.loads(kedge("purge", "--yes", run, alice, "--json").stdout)
    assert (said["side"], said["decisions"]) == ("left", 1)
    assert said["edges"] > 0
    assert said["candidates"] > 0
    assert said["noted"] == [2], "free text about others is named, not touched"
    assert alice not in names_in(run)
    for path in run.rglob("*"):
        if path.is_file() and path.name != DECISIONS_FILE:
            assert alice.encode() not in path.read_bytes(), path.name
    log = log_of(run)
    assert log.verify() == 3
    assert log.state.resolved().confirmed == (other,)
    log.close()
    assert (run / "report.html").exists()
    assert read_manifest(run)["stages"].keys() == before["stages"].keys()
    again = kedge(*match_words(made / "data", run, *QUICK_WORDS))
    assert "1 purged accounts are still in the files; they are left out" in again.stderr
    assert alice not in names_in(run)
    kedge(*match_words(made / "data", run, *QUICK_WORDS, "--force", "-q"))
    assert alice not in names_in(run), "not even a new start brings it back"
    assert other[0] not in {left for left, _ in assigned_pairs(run)}, "other people's decisions still count"


def test_an_anchor_on_the_right_is_forgotten_and_the_finished_run_is_still_whole(made: Any, run: Any) -> None:
    problem = load_outcome(run).problem
    name = problem.right.name(problem.anchors[0, 1])
    said = json.loads(kedge("purge", "--yes", run, name, "--json").stdout)
    assert (said["side"], said["anchors"]) == ("right", 1)
    assert said["named"] == []
    solution = load_outcome(run)
    assert len(solution.problem.anchors) == len(problem.anchors) - 1
    assert solution.problem.right.n == problem.right.n, "numbers stay"
    again = kedge(*match_words(made / "data", run, *QUICK_WORDS))
    assert "damaged" not in again.stderr
    assert "deciding: already done" in again.stderr


def test_who_is_meant_must_be_clear(run: Any) -> None:
    assert "no account" in kedge("purge", "--yes", run, "nobody-at-all", code=2).stderr
    problem = load_outcome(run).problem
    log = log_of(run)
    log.append("ann", "no", "elsewhere", problem.left.name(0))
    log.close()
    assert "--side" in kedge("purge", "--yes", run, problem.left.name(0), code=2).stderr
    assert "no side" in kedge("purge", "--yes", run, "x", "--side", "top", code=2).stderr
    said = json.loads(kedge("purge", "--yes", run, "elsewhere", "--json").stdout)
    assert (said["edges"], said["decisions"]) == (0, 1), "also where only a decision remembers it"
    with reviewing(run):
        assert "`kedge review` of this run is open" in kedge("purge", "--yes", run, problem.left.name(0), code=2).stderr
    (run / "notes.txt").write_text(f"ask {problem.left.name(1)} again")
    result = kedge("purge", "--yes", run, problem.left.name(1), "--json")
    assert json.loads(result.stdout)["named"] == ["notes.txt"]
    assert "notes.txt still contains this id" in result.stderr


def test_an_artefact_without_a_rule_for_cleaning_is_removed(run: Any) -> None:
    manifest = read_manifest(run)
    manifest["stages"]["embed"] = {**manifest["stages"]["matches"], "artefact": "embeddings.bin"}
    write_manifest(run, manifest)
    (run / "embeddings.bin").write_bytes(b"vectors")
    kedge("purge", "--yes", run, assigned_pairs(run)[0][0])
    assert not (run / "embeddings.bin").exists()
    names = set(read_manifest(run)["stages"]) - {"embed"}
    for name in names:
        assert (run / manifest["stages"][name]["artefact"]).exists(), "all that kedge writes today can be cleaned"


def test_forgetting_by_hand() -> None:
    left = Network.from_edges([(0, 1), (1, 2)], 3, ["a", "b", "[forgotten 1]"])
    right = Network.from_edges([(0, 1)], 2, ["x", "y"])
    problem = Problem(left, right, np.array([(0, 0), (1, 1)]), np.array([(2, 0)]))
    forgotten = (np.array([1]), np.empty(0, int))
    after = forget_accounts(problem, forgotten)
    assert after.left.ids.to_pylist() == ["a", "[forgotten 1]'", "[forgotten 1]"]
    assert after.left.edges == 0
    assert after.right is problem.right
    assert after.anchors.tolist() == [[0, 0]]
    assert after.rejected.tolist() == [[2, 0]]
    scores = csr_array(np.arange(1.0, 7.0).reshape(3, 2))
    sparse = SparseAlignment(scores, 2 * scores).without(*forgotten)
    assert sparse.scores.toarray().tolist() == [[1, 2], [0, 0], [5, 6]]
    assert sparse.strengths.toarray().tolist() == [[2, 4], [0, 0], [10, 12]]
    laid = SparseAlignment(scores, None, VectorAlignment(np.eye(3), np.eye(3)[:2])).without(*forgotten).vectors
    assert laid.left.any(axis=1).tolist() == [True, False, True]
    vectors = VectorAlignment(np.eye(3), np.eye(3)[:2], scores).without(*forgotten)
    assert vectors.head.toarray().tolist() == [[1, 2], [0, 0], [5, 6]]
    assert vectors.left[1].tolist() == [0, 0, 0]
    assert vectors.left[0].tolist() == [1, 0, 0]
