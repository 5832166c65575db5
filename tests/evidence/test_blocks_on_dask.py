"""Rounds of evidence on a real Dask cluster: the same bytes, also with a worker killed or stopped on the way."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from evidence_problems import assert_same, planted

from kedge.config import EngineConfig, EvidenceConfig
from kedge.evidence import Where
from kedge.evidence.propagate import propagate

FEW = EvidenceConfig(rounds=6, least_rounds=6, candidates=3, keep=5)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.evidence.propagate._CACHED", 0)


@dataclass
class Watched:
    """Calls `act` once, after the second round."""

    act: Callable[[], Any] = lambda: None
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def stage(self, name: str, done: bool = False) -> None:
        pass

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        if done == 2 and detail == "rounds":
            self.act()


def run(address: str, progress: Watched, silence: float = 300) -> None:
    problem, _ = planted(n=90, seed=4)
    want = propagate(problem, FEW)  # first: workers then find compiled kernels, and are not silent for long
    engine = EngineConfig(name="dask", address=address, silence=silence)
    assert_same(propagate(problem, FEW, where=Where(engine, progress=progress)), want)


def test_a_cluster_gives_the_same_bytes(cluster: Any) -> None:
    progress = Watched()
    run(cluster[0], progress)
    assert any("engine dask: 2 workers" in note for note in progress.notes)


def test_the_blocks_of_a_stopped_worker_are_scored_elsewhere(cluster: Any) -> None:
    address, running = cluster
    progress = Watched(lambda: running[-1].send_signal(signal.SIGSTOP))
    try:
        run(address, progress, silence=20)
    finally:
        running[-1].send_signal(signal.SIGCONT)
    assert any("no sign of life from the Dask worker at" in note for note in progress.notes)


def test_a_killed_worker_costs_only_its_blocks(cluster: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    address, running = cluster
    run(address, Watched(lambda: os.kill(running[-1].pid, signal.SIGKILL)))
