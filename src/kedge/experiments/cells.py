"""What is measured: one cell is one method on one split of one pair, under one seed; and where its networks come from.

A cell is only a description, so that any process can measure it. Its key is a digest of all that can
change its figures: file contents (never paths), sampling, split, method, settings, seed and kedge's version.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from kedge import __version__
from kedge.context import STDIN
from kedge.errors import KedgeError, did_you_mean
from kedge.store import hash_file

_FORMAT: Final = 5  # raise it when figures or names of settings change though nothing below does


@dataclass(frozen=True)
class File:
    """A file and the digest of its content."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Planting:
    """A single network planted by `kedge.synthetic`."""

    accounts: int
    edges: int
    seed: int = 0


@dataclass(frozen=True)
class Pair:
    """Two networks with their anchors: the observed ones where `test` is given, else all, to be split; and perhaps the
    profiles of their accounts."""

    left: File
    right: File
    anchors: File
    test: File | None = None
    left_profiles: File | None = None
    right_profiles: File | None = None

    @property
    def profiles(self) -> tuple[str | None, str | None]:
        """The paths of the profiles."""
        left, right = (None if file is None else file.path for file in (self.left_profiles, self.right_profiles))
        return left, right


@dataclass(frozen=True)
class Cut:
    """The paper's two sub-networks of one network, drawn anew for every seed."""

    network: File | Planting
    alpha_s: float
    alpha_c: float


@dataclass(frozen=True)
class PlantedPair:
    """A social pair planted by `kedge.synthetic`, in place of a real one."""

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


FACEBOOK: Final = "ego-facebook"
PLANTED: Final = Planting(4_000, 88_000)  # the size of ego-facebook
_VARIABLE: Final = "KEDGE_DATA"


def as_file(path: Path) -> File:
    """A file that is there, with its digest."""
    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give a file")
    if str(path) == STDIN or path.is_fifo():
        raise KedgeError("is a pipe, and each cell reads its inputs again", file=path, remedy="give a file")
    try:
        return File(str(path), str(hash_file(path)["sha256"]))
    except FileNotFoundError:
        raise KedgeError("no such file", file=path, remedy="check the path") from None
    except PermissionError:
        raise KedgeError("may not be read", file=path, remedy="check its permissions") from None


def data_root(given: Path | None = None) -> Path | None:
    """The folder of research networks (pairs/, singles/): as given, $KEDGE_DATA or ../shared/data; or None."""
    if given is not None:
        if not given.is_dir():
            raise KedgeError("no such directory", file=given, remedy="give a folder that holds pairs/ and singles/")
        return given
    beside = Path(__file__).resolve().parents[3].parent
    places = [Path(os.environ[_VARIABLE])] if os.environ.get(_VARIABLE) else []
    places += [Path.cwd().parent / "shared" / "data", beside / "shared" / "data"]
    return next((place for place in places if place.is_dir()), None)


def find_network(source: str | None, root: Path | None) -> File | Planting:
    """A network by path, by name under singles/, or `planted`; unnamed: ego-facebook where it is, else planted."""
    singles = None if root is None else root / "singles"
    held = sorted(folder.name for folder in singles.iterdir()) if singles and singles.is_dir() else []
    if source == "planted" or (source is None and FACEBOOK not in held):
        return PLANTED
    name = source or FACEBOOK
    if singles is not None and name in held:
        return as_file(singles / name / "edges.tsv")
    if Path(name).exists():
        return as_file(Path(name))
    remedy = did_you_mean(name, held, "give a file, `planted`, or a name under singles/ of the data")
    raise KedgeError(f"no network {name!r}", remedy=remedy)


def read_folder(folder: Path, split: str | None = None) -> Pair:
    """A folder with left.tsv, right.tsv and anchors.tsv; `split` names one under splits/ instead of the anchors."""
    if not folder.is_dir():
        raise KedgeError("no such directory", file=folder, remedy="give a folder with left.tsv, right.tsv, anchors.tsv")
    left, right = (as_file(folder / f"{side}.tsv") for side in ("left", "right"))
    if split is None:
        return Pair(left, right, as_file(folder / "anchors.tsv"))
    place = folder / "splits" / split
    if not place.is_dir():
        held = sorted(p.name for p in place.parent.iterdir()) if place.parent.is_dir() else []
        hint = f"choose one of: {', '.join(held)}" if held else "leave --split out: the folder has no splits"
        raise KedgeError(f"no split {split!r}", file=folder, remedy=hint)
    return Pair(left, right, as_file(place / "train.tsv"), as_file(place / "test.tsv"))


def find_pair(name: str, root: Path | None) -> Pair | None:
    """A pair of the research data; None where it is absent."""
    folder = None if root is None else root / "pairs" / name
    return read_folder(folder) if folder is not None and folder.is_dir() else None


def name_of(source: File | Planting) -> str:
    """A network's name in tables."""
    if isinstance(source, Planting):
        return f"a planted network of {source.accounts:,} accounts and {source.edges:,} edges"
    path = Path(source.path)
    return path.parent.name if path.name == "edges.tsv" else path.name
