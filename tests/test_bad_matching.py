"""Inputs with little or nothing to say, at the command line: defined, and said plainly."""

from __future__ import annotations

import json

import numpy as np
import pytest
from graphs import communities
from typer.testing import CliRunner

from kedge.cli import app

QUICK = ["--set", "method=kedge", "--set", "mgcn.steps=10", "--set", "mgcn.dimensions=8", "--set", "evidence.rounds=4"]
EMBEDDED = ["--set", "pairing.use=yes", "--set", "mgcn.steps=100"]
EDGES = np.argwhere(np.triu(communities(40, 4, 0.5, 0.05, 0).adjacency.toarray(), 1)).tolist()


def run(folder, left, right, anchors, *more):
    for name, rows in (("left", left), ("right", right), ("anchors", anchors)):
        (folder / f"{name}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    files = [str(folder / f"{name}.tsv") for name in ("left", "right")]
    asked = ["match", *files, "--anchors", str(folder / "anchors.tsv"), "-o", str(folder / "run"), *QUICK, *more]
    return CliRunner().invoke(app, asked)


def named(edges, side):
    return [(f"{side}{a}", f"{side}{b}") for a, b in edges]


def same(count, start=0):
    return [(f"a{i}", f"b{i}") for i in range(start, start + count)]


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_anchors_are_too_few_and_say_so(tmp_path, count):
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(count))
    assert done.exit_code == 0, done.output
    assert "too few to estimate" in " ".join(done.output.split())


def test_contradictory_anchors_are_refused(tmp_path):
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), [("a1", "b1"), ("a1", "b2")])
    assert done.exit_code == 2
    assert not (tmp_path / "run").exists()


def test_identical_networks_are_matched(tmp_path):
    done = run(tmp_path, named(EDGES, "a"), named(EDGES, "b"), same(15))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "matches.parquet").exists()


def test_networks_that_share_no_edge_match_nobody_surely(tmp_path):
    other = [(a + 100, b + 100) for a, b in EDGES]
    done = run(tmp_path, named(EDGES, "a"), named(other, "b"), [(f"a{i}", f"b{100 + (7 * i) % 40}") for i in range(12)])
    assert done.exit_code == 0, done.output


def test_a_hub_joined_to_everybody_and_a_star(tmp_path):
    star = [(0, i) for i in range(1, 40)]
    done = run(tmp_path, named(star, "a"), named(star, "b"), same(12))
    assert done.exit_code == 0, done.output


def test_the_vectors_stand_in_the_waterfall_and_a_run_goes_on(tmp_path):
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
