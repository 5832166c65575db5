"""A planted pair, and a run on it, for the tests of every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import kedge, match_words


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair") / "data"
    kedge("synth", "-o", folder, "--nodes", 400, "--overlap", 0.8, "--seed", 3, "-q")
    return folder


@pytest.fixture(scope="session")
def run(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    kedge(*match_words(pair, out))
    return out
