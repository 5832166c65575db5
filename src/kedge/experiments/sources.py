"""Where the paper's experiments take their networks from: given ones, research data, else planted."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.experiments.cells import File, Pair, Planting
from kedge.store import hash_file

FACEBOOK: Final = "ego-facebook"
PLANTED: Final = Planting(4_000, 88_000)  # the size of ego-facebook
_VARIABLE: Final = "KEDGE_DATA"


def as_file(path: Path) -> File:
    """A file that is there, with its digest."""
    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give a file")
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
    held = (
        sorted(folder.name for folder in (root / "singles").iterdir()) if root and (root / "singles").is_dir() else []
    )
    if source == "planted" or (source is None and FACEBOOK not in held):
        return PLANTED
    name = source or FACEBOOK
    if root is not None and name in held:
        return as_file(root / "singles" / name / "edges.tsv")
    if Path(name).exists():
        return as_file(Path(name))
    near = difflib.get_close_matches(name, held, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "give a file, `planted`, or a name under singles/ of the data"
    raise KedgeError(f"no network {name!r}", remedy=hint)


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
