"""What earlier versions wrote is read: the old names inside of files become today's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.probability.calibration import fit_folds
from kedge.probability.candidates import Scale
from kedge.probability.earlier import EarlierCalibrator, EarlierCounterpart
from kedge.similarity.pair_network import PairNetwork
from kedge.store import load_contents
from kedge.store.formats import ALIGNMENT, CALIBRATOR

OLD_PREFIXES = {"strengths_": "believed_", "network_": "judge_", "vectors_": "laid_"}


def old_names(alignment: SparseAlignment | VectorAlignment, path: Path) -> Path:
    """The alignment in a file as versions before the rename wrote it."""
    renamed = {}
    for name, part in alignment.arrays().items():
        new = next((prefix for prefix in OLD_PREFIXES if name.startswith(prefix)), "")
        renamed[OLD_PREFIXES.get(new, "") + name.removeprefix(new)] = part
    np.savez(path, **renamed)
    return path


def test_scores_of_an_older_run_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors = VectorAlignment(rng.normal(size=(3, 2)), rng.normal(size=(4, 2)))
    scores = csr_array(([1.0, 2.0], ([0, 2], [3, 1])), shape=(3, 4))
    found = ALIGNMENT.load(old_names(SparseAlignment(scores, scores * 2, vectors), tmp_path / "scores.npz"))
    pairs = np.argwhere(np.ones((3, 4)))
    assert found.reorders
    np.testing.assert_array_equal(found.strength(pairs), SparseAlignment(scores, scores * 2).strength(pairs))
    np.testing.assert_allclose(found.cosine(pairs), vectors.cosine(pairs), rtol=1e-6)


def test_a_pair_network_of_an_older_run_is_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=shape).astype(np.float32) for shape in (4, 4, (4, 3), 3, 3)]
    network = PairNetwork("concat", *weights, 0.5, 1.5)
    written = VectorAlignment(rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), None, network)
    found = ALIGNMENT.load(old_names(written, tmp_path / "scores.npz"))
    pairs = np.argwhere(np.ones((3, 4)))
    np.testing.assert_allclose(found.log_odds(pairs), written.log_odds(pairs), rtol=1e-5)
    assert found.log_odds(pairs).any()


def test_the_calibration_of_an_older_run_is_read(tmp_path: Path) -> None:
    written = EarlierCalibrator(
        Scale(0.0, 1.0, 0.0),
        np.zeros(7),
        EarlierCounterpart(np.zeros(1), np.ones(1), 1.0, 1.0),
        fit_folds([]).rule,
        validated=5,
        predicted=np.array([0.2, 0.9]),
        predicted_given_counterpart=np.array([0.3, 0.95]),
        correct=np.array([False, True]),
        without_candidates=3,
    )
    path = tmp_path / "calibration.json"
    with path.open("wb") as file:
        CALIBRATOR.dump(written, file)
    record = json.loads(path.read_text())
    for new, old in (
        ("predicted", "said"),
        ("predicted_given_counterpart", "said_given"),
        ("correct", "right"),
        ("without_candidates", "missing"),
    ):
        record[old] = record.pop(new)
    path.write_text(json.dumps(record))
    with path.open("rb") as file:
        found = CALIBRATOR.load(file)
    np.testing.assert_array_equal(found.predicted, written.predicted)
    np.testing.assert_array_equal(found.predicted_given_counterpart, written.predicted_given_counterpart)
    np.testing.assert_array_equal(found.correct, written.correct)
    assert found.without_candidates == 3


def test_the_evaluation_of_an_older_run_is_read() -> None:
    evaluation = load_contents(Path(__file__).parents[1] / "assets" / "run-format-4" / "kedge").evaluation
    assert evaluation is not None
    assert set(evaluation["reliability"][0]) == {"pairs", "predicted", "right"}
