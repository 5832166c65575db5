"""The page of promises has the kept figures, and the figures are what their names state."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kedge.types import Matches, Network, Problem

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


def test_the_tables_are_made_from_the_kept_figures() -> None:
    show = "import promises; print(promises.BEGIN + promises.page() + promises.END, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "promises.md").read_text("utf-8")


def test_every_group_has_all_its_runs() -> None:
    for own in json.loads((RESULTS / "decisions.json").read_text("utf-8")):
        assert own["seed"] == [*range(len(own["seed"]) - 1), "shuffled"]
        assert all(len(own[key]) == len(own["seed"]) for key in ("matches_90", "recall_95", "ece", "share"))
    assert list(json.loads((RESULTS / "review_answers.json").read_text("utf-8"))["problems"])[-1] == "mean"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


@pytest.mark.usefixtures("benchmarks")
def test_the_oracle_is_the_best_threshold() -> None:
    from decision_problems import Posed
    from decisions import judge

    network = Network.from_edges([], 6)
    # Assigned pairs by probability; the true partner of each account but the last has its own number.
    p, right = np.array([0.9, 0.8, 0.8, 0.7, 0.6, 0.5]), np.array([0, 1, 3, 2, 4, 5])
    n, ones = np.arange(6), np.ones(6)
    matches = Matches(network.ids, network.ids, n, right, n * 0 + 1, p, p, p, 2 * (p > 0.85), ones, ones > 0, 0.85)
    test = np.column_stack([n[:5], n[:5]])

    def judged(target: float, whole: bool) -> list[float | None]:
        posed = Posed(Problem(network, network, np.empty((0, 2), np.int64)), test, "uniform", whole)
        found = judge(matches, posed, target)
        return [found[key] for key in ("matches", "precision", "recall", "oracle")]

    # Equal probabilities are called together: two of three are right from 0.8 on; three of six in all, and the account
    # without a counterpart does not count where only a sample of the pairs is listed.
    assert judged(0.9, whole=True) == [1, 1.0, 0.2, 0.2]
    assert judged(0.6, whole=True)[3] == 0.6
    assert judged(0.51, whole=False)[3] == judged(0.5, whole=True)[3] == 0.6


@pytest.mark.usefixtures("benchmarks")
def test_a_shuffled_problem_is_the_same_question() -> None:
    from decision_problems import Posed

    left = Network.from_edges([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], 5)
    right = Network.from_edges([[0, 1], [1, 2], [2, 3]], 4)
    posed = Posed(Problem(left, right, np.array([[0, 0], [1, 1]])), np.array([[2, 2], [3, 3]]), "uniform")
    other = posed.shuffled().in_order()
    assert (other.problem.left.n, other.problem.right.n) == (4, 5)
    for pairs, own in ((posed.problem.anchors, other.problem.anchors), (posed.test, other.test)):
        degrees = sorted(zip(right.degrees[pairs[:, 1]], left.degrees[pairs[:, 0]], strict=True))
        assert degrees == sorted(
            zip(other.problem.left.degrees[own[:, 0]], other.problem.right.degrees[own[:, 1]], strict=True)
        )


@pytest.mark.usefixtures("benchmarks")
def test_promises_count_what_was_promised() -> None:
    from promises import group, promises

    same = {"problem": "one", "method": "kedge", "accounts": [9, 9], "anchors": 5, "drawn": "uniform", "test": 100}
    rows = []
    for seed, (matches, precision, recall) in enumerate([(100, 0.9, 0.9), (50, 0.8, 0.4), (4, 0.25, 0.01)]):
        row = {**same, "seed": seed, "share": 0.5, "share_estimated": 0.6, "ece": 0.03, "ece_all": None, "cpu": 2.0}
        row |= {"cpu_calibration": 1.0}
        for target in (90, 95):
            row |= {f"matches_{target}": matches, f"precision_{target}": precision}
            row |= {f"recall_{target}": recall, f"oracle_{target}": 0.8}
        rows.append(row)
    found = dict(promises([group(rows)]))
    assert found["target 0.9: precision from 0.88 on in 95 % of the runs"] == "50% of 2"  # four matches show little
    assert found["target 0.95: precision from 0.93 on in 95 % of the runs"] == "0% of 2"
    assert found["target 0.9: recall / oracle's, at least 0.70"] == "0.01 (one)"
    assert found["target 0.9: recall / oracle's, mean at least 0.85"] == "0.50"  # 1, 0.5 and 0.0125
    assert found["target 0.9: counts, largest difference"] == "0.96 (one)"
