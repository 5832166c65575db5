"""Waiting: percent and time left, from what was measured since the stage began; JSON for programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import ENVIRONMENT, kedge_code, match_words, process

from kedge.cli import progress
from kedge.cli.progress import Pace, Reporter, duration
from kedge.config import Config
from kedge.context import RunContext, Within
from kedge.methods import METHODS
from kedge.pipeline.solve import hold_out
from kedge.synthetic import planted, split
from kedge.types import Problem


def test_time_left_counts_what_this_command_has_done() -> None:
    pace = Pace()
    assert pace.seconds_left(100.0, 6, 10) is None, "6 were done before"
    assert pace.seconds_left(104.0, 8, 10) == pytest.approx(4.0)
    assert pace.seconds_left(106.0, 10, 10) == 0
    assert Pace().seconds_left(1.0, 3, None) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (12, "12 s"), (89, "89 s"), (100, "2 min"), (5400, "1 h 30 min"), (3660, "61 min")],
)
def test_a_time_is_shown_as_people_read_it(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_lines_have_percent_and_time_left(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    reporter = Reporter()
    reporter.stage("calibrating")
    for done in range(5):
        reporter.advance(done, 15, "folds")
        clock.now += 6
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "kedge: calibrating ...",
        "kedge: calibrating: 2/15 folds, 13 %, about 78 s left",
        "kedge: calibrating: 4/15 folds, 27 %, about 66 s left",
    ]


def test_a_run_within_several_moves_by_fractions() -> None:
    seen: list[Any] = []

    class Seen:
        def note(self, text: str) -> None:
            seen.append(text)

        def stage(self, name: str, done: bool = False) -> None:
            raise AssertionError("a fold is no stage")

        def advance(self, done: float, total: float | None, detail: str = "") -> None:
            seen.append((done, total, detail))

    inner = Within(Seen(), 2, 5, "fold")
    inner.stage("ignored")
    inner.note("kept")
    inner.advance(3, 4, "rounds")
    inner.advance(7, None)
    assert seen == ["kept", (2.75, 5, "fold 3 of 5: rounds"), (2.0, 5, "fold 3 of 5: ")]


def test_calibration_advances_fold_by_fold() -> None:
    seen: list[tuple[float, float | None]] = []

    class Seen:
        def note(self, text: str) -> None: ...

        def stage(self, name: str, done: bool = False) -> None: ...

        def advance(self, done: float, total: float | None, detail: str = "") -> None:
            seen.append((done, total))

    pair = planted(60, 60, 45, 250, 250, 0.7, 0)
    problem = Problem(pair.left, pair.right, split(pair.anchors, 0.4, 0)[0])
    folds = hold_out(problem, Config(), METHODS["common-neighbours"], RunContext(progress=Seen()))
    assert [done for done, _ in seen] == list(range(len(folds) + 1))
    assert {total for _, total in seen} == {len(folds)}


FIELDS = {
    "stage": {"event", "stage", "already_done"},
    "progress": {"event", "stage", "done", "total", "percent", "seconds_left", "detail"},
    "note": {"event", "text"},
    "error": {"event", "text", "code"},
}


def test_progress_as_json_has_the_documented_fields(pair: Path, tmp_path: Path) -> None:
    words = match_words(pair, tmp_path / "run", "--json-progress", "--method", "common-neighbours", "--json")
    done = subprocess.run(process(*words), capture_output=True, text=True, check=True, env=ENVIRONMENT)
    json.loads(done.stdout)
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert all(set(event) == FIELDS[event["event"]] for event in events), events
    assert {"stage", "progress", "note"} <= {event["event"] for event in events}
    folds = [event for event in events if event["event"] == "progress"]
    assert all(0 <= event["percent"] <= 100 for event in folds)
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    for name, fields in FIELDS.items():
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}` |"))
        assert all(f"`{field}`" in row for field in fields - {"event"}), row


def test_an_error_is_json_too(tmp_path: Path) -> None:
    result = kedge_code("check", tmp_path / "absent.csv", tmp_path / "b.csv", "--json-progress")
    *_, last = result.stderr.splitlines()
    error = json.loads(last)
    assert (result.exit_code, error["event"], error["code"]) == (2, "error", 2)
    assert "no such file" in error["text"]


def test_quiet_is_silent(pair: Path, tmp_path: Path) -> None:
    result = kedge_code(*match_words(pair, tmp_path / "run", "-q", "--method", "common-neighbours"))
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_comparison_names_the_method_in_work(pair: Path) -> None:
    words = ["compare", pair / "left.tsv", pair / "right.tsv", "-a", pair / "train.tsv", "--seeds", 1]
    words += ["-m", "common-neighbours,user-matching", "--json-progress"]
    done = subprocess.run(process(*words), capture_output=True, text=True, check=True, env=ENVIRONMENT)
    details = [json.loads(line).get("detail", "") for line in done.stderr.splitlines()]
    assert "cells; now common-neighbours" in details
