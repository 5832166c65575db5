"""A match without any anchor: started from profiles, each pair scored without itself, none surer than its start."""

from __future__ import annotations

import csv
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from command import kedge, plant
from scipy.sparse import csr_array

import kedge as package
from kedge import synthetic
from kedge.ingest import read_network, read_pairs
from kedge.linalg import SparseAlignment
from kedge.pipeline.start import Started
from kedge.probability import Calibrator
from kedge.probability.counterpart import Moments, estimate_share
from kedge.probability.leaders import Logistic
from kedge.store import load_scored
from kedge.types import IntArray, Network, Problem, Support

EVIDENCE = {"method": "evidence"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted pair with an opaque hash of each person; three of ten right accounts have another."""
    place = plant(tmp_path_factory.mktemp("start"))
    truth = read_pairs(place / "anchors.tsv")
    person = dict(zip(truth.second.to_pylist(), truth.first.to_pylist(), strict=True))
    rng = np.random.default_rng(0)
    for side in ("left", "right"):
        rows = ["id,hashed,group"]
        for name in sorted(read_network(place / f"{side}.tsv")[0].ids.to_pylist()):
            known = str(rng.random()) if side == "right" and rng.random() < 0.3 else person.get(name, name)
            rows.append(f"{name},{sha256(known.encode()).hexdigest()},g{rng.integers(5)}")
        (place / f"{side}.profiles.csv").write_text("\n".join(rows) + "\n")
    return place


@pytest.fixture(scope="module")
def run(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    done = kedge(*_words(pair, out), *_profiles(pair), "--method", "evidence")
    assert done.stderr.count("pairs whose profiles agree; no anchor was given") == 1
    return out


def _words(pair: Path, out: Path) -> list[object]:
    return ["match", pair / "left.tsv", pair / "right.tsv", "-o", out]


def _profiles(pair: Path) -> list[object]:
    return ["--left-profiles", pair / "left.profiles.csv", "--right-profiles", pair / "right.profiles.csv"]


def _truth(pair: Path) -> set[tuple[str, str]]:
    pairs = read_pairs(pair / "anchors.tsv")
    return set(zip(pairs.first.to_pylist(), pairs.second.to_pylist(), strict=True))


def _table(run: Path) -> Any:
    return pyarrow.parquet.read_table(run / "matches.parquet")


def test_matches_are_right_and_none_is_known(pair: Path, run: Path, tmp_path: Path) -> None:
    kedge("export", run, "-o", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert {row["decision"] for row in rows} == {"match"}
    right = [(row["left"], row["right"]) in _truth(pair) for row in rows]
    assert np.mean(right) >= 0.95
    assert len(right) > 0.6 * len(_truth(pair))


def test_no_probability_is_above_what_the_start_is_worth(run: Path) -> None:
    scored = load_scored(run)
    assert len(scored.problem.anchors) == 0
    assert 0.8 < scored.calibrator.anchors_right < 1
    assert 0.9 < max(_table(run)["probability"].to_pylist()) <= scored.calibrator.anchors_right
    assert "pairs whose profiles agree" in (run / "report.html").read_text()


def test_a_resumed_run_has_the_same_matches(pair: Path, run: Path) -> None:
    before = (run / "matches.parquet").read_bytes()
    kedge(*_words(pair, run), *_profiles(pair), "--method", "evidence", "-q")
    assert (run / "matches.parquet").read_bytes() == before


def test_python_needs_no_anchors_either(pair: Path, run: Path) -> None:
    frames = {f"{side}_profiles": pyarrow.csv.read_csv(pair / f"{side}.profiles.csv") for side in ("left", "right")}
    found = package.match(pair / "left.tsv", pair / "right.tsv", **frames, settings=EVIDENCE)
    assert found.to_frame().to_dict("records") == _table(run).to_pandas().to_dict("records")
    assert sum("started from" in note for note in found.notes) == 1


def test_profiles_that_prove_nothing_start_nothing(pair: Path) -> None:
    frames = {f"{side}_profiles": pyarrow.csv.read_csv(pair / f"{side}.profiles.csv") for side in ("left", "right")}
    settings = {**EVIDENCE, "profiles.fields": ["group"]}
    found = package.match(pair / "left.tsv", pair / "right.tsv", **frames, settings=settings)
    assert len(found.matches) == 0
    assert any("profiles agree too little to start from" in note for note in found.notes)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "no anchors: nothing is known of any pair; give known pairs (--anchors), or profiles of both"),
        (("--method", "isorank", "--left-profiles", "x"), "the method isorank does not read profiles"),
        (("--left-profiles", "x.csv"), "profiles of one network alone"),
    ],
)
def test_without_anchors_and_profiles_one_line_names_both(
    pair: Path, tmp_path: Path, more: tuple[object, ...], words: str
) -> None:
    done = kedge(*_words(pair, tmp_path / "run"), *more, "-q", code=2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_an_assumed_pair_is_scored_by_a_run_without_it() -> None:
    ring = synthetic.planted(8, 8, 8, 8, 8, overlap=1.0, seed=0)
    problem = Problem(ring.left, ring.right, np.array([[0, 0], [1, 1], [2, 2], [3, 3]]))
    runs: list[IntArray] = []

    def align(given: Problem) -> SparseAlignment:
        """Every pair, with the number of the run as its score and its prior."""
        runs.append(given.anchors)
        every = csr_array(np.full((8, 8), float(len(runs))))
        return SparseAlignment(every, every, support=Support(every, every))

    found = Started(problem, 3, 0.9, "").align(align)  # the fourth was confirmed by a reviewer
    assert isinstance(found, SparseAlignment)
    assert found.support is not None
    for matrix in (found.scores, found.strengths, found.support.prior):
        assert matrix is not None
        for pair in range(3):
            maker = runs[int(matrix[pair, pair]) - 1]
            assert pair not in maker[:, 0]
            assert matrix[pair, 3] == 0
        assert matrix[3, 3] == matrix[5, 6] == 1


def test_the_share_with_a_counterpart_is_that_of_all_accounts() -> None:
    # 100 left and 60 right accounts; 40 pairs are assumed, and of the others hardly any has a counterpart.
    network = [Network.from_edges([(i, (i + 1) % n) for i in range(n)], n) for n in (100, 60)]
    problem = Problem(network[0], network[1], np.column_stack([np.arange(40)] * 2))
    anchored, decoys, rest = 0.8, 0.05, 0.1
    own = [
        Moments(*(np.array([x]) for x in (rest, anchored, decoys)), np.full((3, 1), 1e-4), np.array([n - 40.0]),
                np.array([np.log(3)]), float(np.log(3)))
        for n in (60, 100)
    ]  # fmt: skip
    none = Logistic(np.zeros(1), np.zeros(3))
    calibrator = Calibrator(None, np.zeros(1), none, none, np.zeros((2, 2)), (own[0], own[1]), None, 40)
    made = Started(problem, 40, 0.9, "a note").doubting(calibrator)
    for of, n in zip(made.moments, (60, 100), strict=True):
        assert of.size.tolist() == [n]
        assert of.everyone[0] == pytest.approx((40 * anchored + (n - 40) * rest) / n)
    share = estimate_share(made.moments, (60, 100)).mean
    before = estimate_share(calibrator.moments, (60, 100)).mean
    assert share[1] == pytest.approx(0.43, abs=0.03)
    assert before[1] < 0.15
    assert made.anchors_right == 0.9
