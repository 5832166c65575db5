"""The command line as tests call it: in this process, or in one of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from kedge.cli import app

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def kedge_code(*words: object) -> Result:
    """Whatever its exit code is."""
    return CliRunner().invoke(app, [str(word) for word in words])


def kedge(*words: object, code: int = 0) -> Result:
    result = kedge_code(*words)
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def process(*words: object) -> list[str]:
    return [sys.executable, "-m", "kedge", *[str(word) for word in words]]


def match_words(pair: Path, out: Path, *more: object) -> list[object]:
    files = [pair / f"{name}.tsv" for name in ("left", "right", "train", "test")]
    return ["match", files[0], files[1], "--anchors", files[2], "--test", files[3], "-o", out, *more]


def plant(folder: Path) -> Path:
    """A small planted pair as `kedge synth` writes it."""
    kedge("synth", "-o", folder, "--nodes", 150, "--overlap", 0.8, "--seed", 3, "-q")
    return folder
