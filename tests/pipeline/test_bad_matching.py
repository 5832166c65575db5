"""Inputs with little or nothing to say, at the command line: what is matched, and what the user is notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from graphs import communities
from typer.testing import CliRunner

from kedge.cli import app

QUICK = ["--set", "mgcn.steps=10", "--set", "mgcn.dimensions=8", "--set", "evidence.rounds=8"]
EMBEDDED = ["--set", "pairing.use=yes", "--set", "mgcn.steps=100"]
EDGES = np.argwhere(np.triu(communities(40, 4, 0.5, 0.05, 0).adjacency.toarray(), 1)).tolist()


def run(folder: Path, left: Any, right: Any, anchors: Any, *more: Any) -> Any:
    for name, rows in (("left", left), ("right", right), ("anchors", anchors)):
        (folder / f"{name}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    files = [str(folder / f"{name}.tsv") for name in ("left", "right")]
    asked = ["match", *files, "--anchors", str(folder / "anchors.tsv"), "-o", str(folder / "run"), *QUICK, *more]
    return CliRunner().invoke(app, asked)


def matched(folder: Path, left: Any, right: Any, anchors: Any, *more: Any) -> Any:
    """What the user is notes, in one line, and the assigned pairs."""
    done = run(folder, left, right, anchors, *more)
    assert done.exit_code == 0, done.output
    rows = pq.read_table(folder / "run" / "matches.parquet").to_pylist()
    return " ".join(done.stderr.split()), [row for row in rows if row["assigned"]]


def named(edges: Any, side: Any) -> list[Any]:
    return [(f"{side}{a}", f"{side}{b}") for a, b in edges]


def same(count: Any, start: int = 0) -> list[Any]:
    return [(f"a{i}", f"b{i}") for i in range(start, start + count)]


def right_ones(rows: Any, decision: str = "match") -> list[Any]:
    """Which rows of a decision are right: accounts with the same number are the same person."""
    return [row["left"][1:] == row["right"][1:] for row in rows if row["decision"] == decision]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("left\tright\n", "holds a header and no rows"),
        ("# nothing yet\n", "holds no rows"),
    ],
)
def test_no_anchors_are_refused_before_anything_is_written(tmp_path: Path, text: str, said: str) -> None:
    run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), [])
    (tmp_path / "anchors.tsv").write_text(text)
    files = [str(tmp_path / name) for name in ("left.tsv", "right.tsv")]
    done = CliRunner().invoke(
        app, ["match", *files, "--anchors", str(tmp_path / "anchors.tsv"), "-o", str(tmp_path / "run")]
    )
    assert done.exit_code == 2
    assert "anchors.tsv" in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_anchors_are_too_few_and_nothing_is_called_a_match(tmp_path: Path, count: int) -> None:
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(count))
    are = "1 anchor is" if count == 1 else "2 anchors are"
    assert f"{are} too few to estimate how often an edge is on both sides (0 and 0 edges among them)" in notes
    held = "1 validation anchor is" if count == 1 else "2 validation anchors are"
    assert f"{held} too few to estimate probabilities; they are a guess" in notes
    assert "no pair is sure enough to be called a match: the surest has a probability of 0." in notes
    assert rows, "guesses are shown, for review"
    assert {row["decision"] for row in rows} <= {"review", "no match"}
    assert max(row["probability"] for row in rows) <= (count + 1) / (count + 2)


@pytest.mark.parametrize(
    ("setting", "note"),
    [
        ("decide.precision=1", "with a precision or threshold of 1 nothing is called a match; ask for less, e.g. 0.95"),
        ("decide.threshold=1", "with a precision or threshold of 1 nothing is called a match; ask for less, e.g. 0.95"),
        ("decide.holdout=0", "no anchor could be held out: probabilities are a guess and stay under 0.5"),
    ],
)
def test_what_no_anchors_can_show_is_no_match_and_one_line(tmp_path: Path, setting: str, note: str) -> None:
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(20), "--set", setting)
    assert notes.count(note) == 1
    assert rows
    assert "match" not in {row["decision"] for row in rows}


@pytest.mark.parametrize("method", ["kedge", "percolation", "common-neighbours"])
def test_random_anchors_are_no_match_and_two_lines(tmp_path: Path, method: str) -> None:
    other = np.random.default_rng(1).permutation(40)
    moved = [(other[a], other[b]) for a, b in EDGES]
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(moved, "b"), same(25), "--method", method)
    assert notes.count("edges among the anchors are in both networks, no more than by chance") == 1
    assert notes.count("validation anchors are found no better than by chance") == 1
    assert "match" not in {row["decision"] for row in rows}
    assert "no better than by chance" in (tmp_path / "run" / "report.html").read_text()


def test_contradictory_anchors_are_refused_with_line_and_remedy(tmp_path: Path) -> None:
    anchors = [*same(3, 10), ("a1", "b1"), ("a1", "b2")]
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), anchors)
    assert done.exit_code == 2
    assert "anchors.tsv:4: anchor (a1, b1) contradicts another: 2 anchors give one account several partners" in (
        done.stderr
    )
    assert "--set read.contradictory=drop" in done.stderr
    assert not (tmp_path / "run").exists()


def test_contradictory_anchors_are_left_out_on_request(tmp_path: Path) -> None:
    drop = ("--set", "read.contradictory=drop")
    anchors = [*same(12), ("a20", "b21"), ("a20", "b22")]
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(EDGES, "b"), anchors, *drop)
    assert "2 anchors give one account several partners and are left out" in notes
    assert ("a20", "b20") in {(row["left"], row["right"]) for row in rows}


def test_anchors_that_all_contradict_each_other_leave_none(tmp_path: Path) -> None:
    anchors = [("a1", "b1"), ("a1", "b2")]
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), anchors, "--set", "read.contradictory=drop")
    assert done.exit_code == 2
    assert "no anchors are left: all 2 contradict each other" in done.stderr
    assert not (tmp_path / "run").exists()


def test_anchors_in_no_edge_are_refused_as_a_misfit(tmp_path: Path) -> None:
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), [(f"x{i}", f"y{i}") for i in range(12)])
    assert done.exit_code == 2
    assert "anchors.tsv:1: 12 of 12 anchors name accounts that are in no edge, the first 'x0', 'y0'" in done.stderr


def test_some_anchors_on_isolated_accounts_are_counted_once(tmp_path: Path) -> None:
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(EDGES, "b"), [*same(12), ("x1", "y1")])
    assert "1 of 13 anchors has an account without edges: no evidence starts there" in notes
    assert "carry no evidence" not in notes, "the same thing said twice"
    assert not {"x1", "y1"} & {name for row in rows for name in (row["left"], row["right"])}
    assert all(right_ones(rows))
    assert len(right_ones(rows)) >= 20


def test_anchors_on_isolated_accounts_alone_give_no_match(tmp_path: Path) -> None:
    loops = [(f"l{i}", f"l{i}") for i in range(12)]
    left, right = (named(EDGES, side) + [(f"{side}{a}", f"{side}{b}") for a, b in loops] for side in "ab")
    notes, rows = matched(tmp_path, left, right, [(f"al{i}", f"bl{i}") for i in range(12)], "--set", "pairing.use=no")
    assert "every anchor has an account without edges: no evidence starts from any" in notes
    assert "no validation anchor had any candidate: probabilities are a guess" in notes
    assert "take them as rough" not in notes
    assert "no account has any candidate, so nothing is matched" in notes
    assert rows == []


def test_networks_that_share_no_edge_give_no_match(tmp_path: Path) -> None:
    far = {(a, b) for a in range(40) for b in range(a)} - {(max(e), min(e)) for e in EDGES}
    other = [sorted(far)[i] for i in np.random.default_rng(0).permutation(len(far))[: len(EDGES)]]
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(other, "b"), same(20), "--set", "pairing.use=no")
    assert "edges among the anchors are in both networks, no more than by chance" in notes
    assert "validation anchors are found no better than by chance (" in notes
    assert "no pair is sure enough to be called a match" in notes
    assert "match" not in {row["decision"] for row in rows}


def test_accounts_that_no_anchor_is_joined_to_get_no_partner(tmp_path: Path) -> None:
    twice = [*EDGES, *([a + 40, b + 40] for a, b in EDGES)]
    notes, rows = matched(tmp_path, named(twice, "a"), named(twice, "b"), same(15))
    assert "no path leads from an anchor to 40 left accounts and 40 right accounts: no evidence reaches them" in notes
    assert {int(row["left"][1:]) for row in rows} <= set(range(15, 40))
    assert {int(row["right"][1:]) for row in rows} <= set(range(15, 40))


def test_identical_networks_are_matched_whole(tmp_path: Path) -> None:
    notes, rows = matched(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(15))
    assert right_ones(rows) == [True] * 25
    assert "too few to estimate how often" not in notes
    assert "probabilities rest on 15 validation anchors only; take them as rough" in notes


@pytest.mark.parametrize("known", [True, False])
def test_a_hub_joined_to_every_account_is_named_and_does_no_harm(tmp_path: Path, known: bool) -> None:
    left, right = (named(EDGES, side) + [(f"{side}hub", f"{side}{i}") for i in range(40)] for side in "ab")
    notes, rows = matched(tmp_path, left, right, [*same(12), *([("ahub", "bhub")] if known else [])])
    for side in ("left", "right"):
        assert f"{side}: one account is joined to 100% of all the others, which is little evidence" in notes
    assert len(right_ones(rows)) >= 20
    assert all(right_ones(rows))
    assert known or ("ahub", "bhub") in {(row["left"], row["right"]) for row in rows}


def test_leaves_of_a_star_are_equal_and_none_is_called_a_match(tmp_path: Path) -> None:
    star = [(0, i) for i in range(1, 40)]
    notes, rows = matched(tmp_path, named(star, "a"), named(star, "b"), same(12))
    assert "all scores are equal: the method does not distinguish candidates" in notes
    assert "no pair is sure enough to be called a match" in notes
    assert "match" not in {row["decision"] for row in rows}


# Evidence hears the ten best of each account in a round, so of twelve that are equal two fall out, and scores differ.
@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("common-neighbours", "all scores are equal: the method does not distinguish candidates"),
        ("kedge", "12 of 12 accounts have several best candidates with equal scores"),
    ],
)
def test_in_a_complete_network_no_account_differs(tmp_path: Path, method: str, said: str) -> None:
    full = [(i, j) for i in range(20) for j in range(i)]
    notes, rows = matched(tmp_path, named(full, "a"), named(full, "b"), same(8), "--method", method)
    assert notes.count(said) == 1
    assert "match" not in {row["decision"] for row in rows}


def test_the_vectors_stand_in_the_waterfall_and_a_run_goes_on(tmp_path: Path) -> None:
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(15), *EMBEDDED)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "model" / "prior.npz").exists()
    (tmp_path / "run" / "model" / "prior.npz").unlink()
    again = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(15), *EMBEDDED)
    assert again.exit_code == 0, again.output
    asked = ["explain", str(tmp_path / "run"), "a20", "b20", "--json"]
    said = json.loads(CliRunner().invoke(app, asked).stdout)
    terms = sum(reason["weight"] for reason in said["hits"] + said["misses"])
    assert said["log_odds"] == pytest.approx(said["prior"] + said["vectors"] + terms)
    assert said["log_odds"] == pytest.approx(said["score"], abs=0.05)
    other = json.loads(CliRunner().invoke(app, [*asked[:3], "b21", "--json"]).stdout)
    assert -1 <= other["similarity"] < said["similarity"] <= 1, "the vectors of one person in both networks are alike"
    assert "similarity of the vectors 0." in CliRunner().invoke(app, asked[:-1]).stdout


def test_settings_of_an_engine_without_effect_are_noted(tmp_path: Path) -> None:
    edges = [(0, 1), (1, 2), (2, 3)]
    given = ("--engine", "dask", "--address", "tcp://127.0.0.1:1", "--max-memory", "4GB")
    notes, _ = matched(tmp_path, named(edges, "a"), named(edges, "b"), same(2), *given)
    assert "no effect on the method kedge here: engine.name, engine.max_memory_mb, engine.address" in notes


def test_an_address_that_is_none_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = run(tmp_path, [], [], [], "--address", "garbage://x")
    assert done.exit_code == 2
    assert done.stderr.startswith("kedge: 'garbage://x' is not the address of a Dask scheduler")
