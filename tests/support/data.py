"""The research networks that some tests look at; they skip with a message where the data is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[3] / "shared" / "data"))


def pair(name: str) -> Path:
    """The folder of a shared pair (left.tsv, right.tsv, anchors.tsv, splits/), or a skip."""
    return _folder("pairs", name)


def single(name: str) -> Path:
    """The folder of a single shared network (edges.tsv), or a skip."""
    return _folder("singles", name)


def _folder(kind: str, name: str) -> Path:
    folder = ROOT / kind / name
    if not folder.is_dir():
        pytest.skip(f"no {name} under {ROOT} (set KEDGE_DATA)")
    return folder
