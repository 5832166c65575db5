"""One planted pair, matched once in memory and once into a directory."""

from __future__ import annotations

from pathlib import Path

import pytest

import kedge
from kedge.api import Run, SynthPair


@pytest.fixture(scope="session")
def pair() -> SynthPair:
    return kedge.synth(nodes=150, overlap=0.85, seed=3, train=0.3)


@pytest.fixture(scope="session")
def files(pair: SynthPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pair.write(tmp_path_factory.mktemp("pair") / "data")


@pytest.fixture(scope="session")
def held(pair: SynthPair) -> Run:
    """In memory; tests only look at it."""
    return kedge.match(pair.left, pair.right, pair.train, test=pair.test)


@pytest.fixture(scope="session")
def folder(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory that tests only look at."""
    place = tmp_path_factory.mktemp("runs") / "run"
    left, right, train, test = (files / f"{name}.tsv" for name in ("left", "right", "train", "test"))
    kedge.match(left, right, train, test=test, out=place)
    return place


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Run:
    """A run directory of the test's own."""
    import shutil

    shutil.copytree(folder, tmp_path / "run")
    return kedge.open(tmp_path / "run")
