"""Doubtful anchors in a run: noted, listed the same everywhere, used for nothing, and still the user's own."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from command import kedge, match_words

from kedge.store import load_contents, read_manifest

WORDS = ["--set", "pairing.use=no", "--set", "candidates=5"]
COUNT = 30


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair with 30 wrong anchors."""
    folder = tmp_path_factory.mktemp("suspects") / "data"
    edges = ["--left-edges", 1500, "--right-edges", 1500]
    kedge("synth", "-o", folder, "--nodes", 300, *edges, "--overlap", 0.9, "--seed", 5, "--train", 0.5, "-q")
    rows = [line.split("\t") for line in (folder / "train.tsv").read_text().splitlines()]
    partners = [right for _, right in rows[:COUNT]]
    rows[:COUNT] = [[left, right] for (left, _), right in zip(rows, partners[1:] + partners[:1], strict=False)]
    (folder / "train.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def made(data: Path) -> tuple[Path, str]:
    """The run, and what `match` wrote to stderr."""
    run = data.parent / "run"
    return run, kedge(*match_words(data, run, *WORDS)).stderr


@pytest.fixture(scope="module")
def run(made: tuple[Path, str]) -> Path:
    return made[0]


def wrong_pairs(data: Path) -> set[tuple[str, ...]]:
    lines = (data / "train.tsv").read_text().splitlines()[:COUNT]
    return {tuple(line.split("\t")) for line in lines}


def suspects_of(run: Path) -> set[tuple[str, ...]]:
    contents = load_contents(run)
    left, right = contents.problem.left, contents.problem.right
    return {(left.name(u), right.name(v)) for u, v in contents.suspects.pairs.tolist()}


def crosswalk(run: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(kedge("export", run, "-o", "-").stdout.splitlines()))


def test_match_finds_them_and_mentions_them_in_one_line(made: tuple[Path, str], data: Path) -> None:
    run, stderr = made
    found = suspects_of(run)
    assert len(found & wrong_pairs(data)) >= 0.9 * COUNT
    assert len(found - wrong_pairs(data)) <= 3
    line = [line for line in stderr.splitlines() if "contradicted" in line]
    assert len(line) == 1
    assert f"{len(found)} of" in line[0]
    assert "kedge check --suspects" in line[0]


def test_check_lists_the_same_ones(run: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "suspects.csv"
    words = ["check", data / "left.tsv", data / "right.tsv", "-a", data / "train.tsv", "--suspects", *WORDS, "-q"]
    listed = json.loads(kedge(*words, "-o", out, "--json").stdout)["suspects"]
    pairs = [(row["left"], row["right"]) for row in listed["table"]]
    assert set(pairs) == suspects_of(run)
    assert 0.9 * len((data / "train.tsv").read_text().splitlines()) < listed["examined"]
    with out.open() as file:
        assert [(row["left"], row["right"]) for row in csv.DictReader(file)] == pairs
    assert kedge(*words, "-o", out, code=2).stderr.count("\n") == 1  # it is there already
    text = kedge(*words).stdout
    assert f"{len(pairs)} of {listed['examined']} anchors are contradicted" in text
    assert pairs[0][0] in text


def test_they_stay_known_pairs_with_a_mark(run: Path) -> None:
    known = [row for row in crosswalk(run) if row["decision"] == "known"]
    assert {(row["left"], row["right"]) for row in known if row["source"] == "doubtful anchors"} == suspects_of(run)
    assert len(known) == len(load_contents(run).problem.anchors)


def test_the_report_has_them(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert "Doubtful anchors" in page
    assert "contradicted by the rest of the evidence" in page
    left, right = min(suspects_of(run))
    card = page[page.index('id="anchors"') :]
    assert left in card
    assert right in card


def test_without_them_more_is_matched(run: Path, data: Path, tmp_path: Path) -> None:
    kedge(*match_words(data, tmp_path / "all", *WORDS, "--set", "decide.suspects=false", "-q"))
    assert "suspects" not in read_manifest(tmp_path / "all")["stages"]
    assert {row["source"] for row in crosswalk(tmp_path / "all")} <= {"anchors", "kedge"}
    with_all, without = (json.loads((one / "metrics.json").read_text()) for one in (tmp_path / "all", run))
    assert without["match_recall"] > (with_all["match_recall"] or 0) + 0.1
    assert without["hits1"] >= with_all["hits1"]


def test_a_damaged_list_is_found_again(run: Path, data: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    before = suspects_of(copy)
    (copy / "model" / "suspects.npz").write_bytes(b"damaged")
    kedge(*match_words(data, copy, *WORDS, "-q"))
    assert suspects_of(copy) == before


def test_a_purged_account_is_no_suspect_any_more(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    left, right = min(suspects_of(copy))
    kedge("purge", "--yes", copy, left)
    assert (left, right) not in suspects_of(copy)
    assert len(suspects_of(copy)) == len(suspects_of(run)) - 1
    assert left not in (copy / "report.html").read_text()


def test_explanations_rest_on_the_other_anchors(run: Path) -> None:
    rows = crosswalk(run)
    best = next(row for row in rows if row["decision"] == "match")
    found = json.loads(kedge("explain", run, best["left"], best["right"], "--json").stdout)
    table = load_contents(run).table.to_pylist()
    score = next(row["score"] for row in table if (row["left"], row["right"]) == (best["left"], best["right"]))
    assert found["log_odds"] == pytest.approx(score, abs=0.01)


def test_bad_questions_are_one_line(data: Path, tmp_path: Path) -> None:
    pair = ["check", data / "left.tsv", data / "right.tsv", "-q"]
    assert "no anchors to examine" in kedge(*pair, "--suspects", code=2).stderr
    assert "--out is for" in kedge(*pair, "-a", data / "train.tsv", "-o", tmp_path / "x.csv", code=2).stderr
