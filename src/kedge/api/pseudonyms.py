"""`kedge.pseudonymise`: copies of files without names, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from kedge.api.facts import Facts
from kedge.api.objects import as_path, as_settings
from kedge.api.wording import in_python, worded
from kedge.config import resolve
from kedge.context import Shown
from kedge.pipeline.pseudonymise import Order, copy_facts, copy_files, put_back
from kedge.store import make_key as new_key
from kedge.types import KedgeError

Files = str | PathLike[str] | Sequence[str | PathLike[str]]


@worded
def make_key(path: str | Path) -> Path:
    """Make a secret key for `pseudonymise` in a new file: share it with the other side over another way than copies."""
    place = as_path(path, "path")
    new_key(place)
    return place


@worded
def pseudonymise(
    files: Files = (),
    out: str | Path | None = None,
    *,
    key: str | Path | None = None,
    anchors: Files = (),
    profiles: Files = (),
    ids: str = "",
    fields: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    map: str | Path | None = None,
    reverse: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    raw: bool = False,
    force: bool = False,
) -> Facts:
    """Copy networks, anchors and profiles with ids and chosen fields replaced by pseudonyms, or put the ids back.

    A pseudonym is a keyed hash: two parties with the same `key` get the same ones, and can match without exchanging
    names. A graph without names is not anonymous (docs/privacy.md). The copies have the names of the files, in `out`.
    profiles: `ids` is the column of ids, `fields` are replaced (NAME or NAME:text, email, phone), `keep` copied, all
    others dropped; `drop` without a note. map: where each id is written with its pseudonym; keep it. reverse: such a
    map, whose ids are put back into `files`.
    """
    networks, known, described = (_paths(given) for given in (files, anchors, profiles))
    if not (networks or known or described) or out is None:
        raise KedgeError("nothing to copy", remedy="give files and out=, or make a key with kedge.make_key")
    place, reading = as_path(out, "out"), resolve(overrides=as_settings(settings)).read
    notes: list[str] = []
    if reverse is not None:
        if key or map or known or described:
            raise KedgeError(
                "--reverse needs a map and tables alone", remedy="give neither key nor anchors nor profiles"
            )
        source = as_path(reverse, "reverse")
        copies, _ = put_back(networks, source, place, reading, notes.append, raw=raw, force=force)
    else:
        order = Order(networks, known, described, ids, _words(fields), _words(keep), _words(drop))
        secret, table = (None if one is None else as_path(one, name) for one, name in ((key, "key"), (map, "map")))
        copies = copy_files(order, place, secret, table, reading, notes.append, force=force)
    rows = copy_facts(copies)
    shown = [(row["file"], f"{row['ids']:,}", f"{row['rows']:,}") for row in rows]
    facts = {"directory": str(place), "map": None if map is None else str(map), "files": rows}
    return Facts(
        facts, [Shown(f"Copies in {place}", ("file", "ids", "rows"), shown)], (), [in_python(n) for n in notes]
    )


def _paths(given: Files) -> tuple[Path, ...]:
    listed = [given] if isinstance(given, str | PathLike) else list(given)
    return tuple(as_path(one, "files") for one in listed)


def _words(given: str | Sequence[str]) -> tuple[str, ...]:
    listed = given.split(",") if isinstance(given, str) else given
    return tuple(word.strip() for word in listed if word.strip())
