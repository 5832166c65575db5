"""`kedge synth`: the same seed, the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from command import kedge


def test_synth_gives_the_same_bytes_for_the_same_seed(pair: Any, tmp_path: Path) -> None:
    kedge("synth", "-o", tmp_path / "again", "--nodes", 400, "--overlap", 0.8, "--seed", 3, "-q")
    for path in pair.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    kedge("synth", pair / "left.tsv", "-o", tmp_path / "sub", "--alpha-s", 0.9, "--alpha-c", 0.5)
    result = kedge("synth", "-o", tmp_path / "sub", code=2)
    assert "is not empty" in result.stderr
