"""What is measured: one cell is one method on one split of one pair, under one seed.

A cell is only a description, so that any process can measure it. Its key is a digest of all that can
change its figures: file contents (never paths), sampling, split, method, settings, seed and kedge's version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final, TypeAlias

from kedge import __version__

_FORMAT: Final = 5  # raise it when figures or names of settings change though nothing below does


@dataclass(frozen=True)
class File:
    """A file and the digest of its content."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Planting:
    """A single network planted by `kedge.synth`."""

    accounts: int
    edges: int
    seed: int = 0


@dataclass(frozen=True)
class Pair:
    """Two networks with their anchors: the observed ones where `test` is given, else all, to be split."""

    left: File
    right: File
    anchors: File
    test: File | None = None


@dataclass(frozen=True)
class Cut:
    """The paper's two sub-networks of one network, drawn anew for every seed."""

    network: File | Planting
    alpha_s: float
    alpha_c: float


@dataclass(frozen=True)
class PlantedPair:
    """A social pair planted by `kedge.synth`, in place of a real one."""

    accounts: int
    anchors: int
    edges: int
    overlap: float
    seed: int = 0


Data: TypeAlias = Pair | Cut | PlantedPair


@dataclass(frozen=True)
class Shares:
    """How anchors are split: the last `test` of a random order are held out, the first `train` observed."""

    train: float
    test: float


@dataclass(frozen=True)
class Cell:
    """One method on one split; `config` holds the resolved settings, the method's name and the seed among them."""

    data: Data
    shares: Shares | None
    config: Mapping[str, Any] = field(hash=False)

    @property
    def method(self) -> str:
        """The method's name."""
        return str(self.config["method"])

    @property
    def seed(self) -> int:
        """Where the split and the method's randomness start."""
        return int(self.config["seed"])


def cell_key(cell: Any) -> str:
    """Equal for two descriptions only if their figures must be equal."""
    described = {"format": _FORMAT, "kedge": __version__, "cell": _without_paths(cell)}
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:20]


def _without_paths(value: Any) -> Any:
    """The description as JSON types, with the kind of each part, without the paths of files."""
    if is_dataclass(value):
        kept = {part.name: getattr(value, part.name) for part in fields(value) if part.name != "path"}
        return {"kind": type(value).__name__} | {name: _without_paths(part) for name, part in kept.items()}
    return dict(value) if isinstance(value, Mapping) else value
