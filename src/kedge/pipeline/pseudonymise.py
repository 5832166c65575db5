"""`kedge pseudonymise`: copies of networks, anchors and profiles without names, and the way back for their owner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kedge import ingest
from kedge.config import ReadConfig
from kedge.errors import did_you_mean
from kedge.ingest import Copy
from kedge.store import read_key, refuse_directory, refuse_overwrite, translate_disk_errors, write_atomically
from kedge.types import KedgeError


@dataclass(frozen=True)
class Order:
    """The files to copy; of profiles the column of ids, and the fields to hash (NAME or NAME:form), to keep as they
    are, and to drop without a note."""

    networks: tuple[Path, ...] = ()
    anchors: tuple[Path, ...] = ()
    profiles: tuple[Path, ...] = ()
    ids: str = ""
    fields: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.networks, *self.anchors, *self.profiles)


def copy_files(
    order: Order,
    out: Path,
    key: Path | None,
    map_file: Path | None,
    config: ReadConfig,
    note: Callable[[str], None],
    *,
    force: bool = False,
) -> list[Copy]:
    """Write copies in which ids and chosen fields are pseudonyms, and perhaps each id with its pseudonym."""
    _refuse_targets(order.files, out, key, map_file, force)
    copies = _copies(order, key, config, note)
    if map_file is not None:
        table, _ = ingest.guard_table(ingest.join_map(copies))  # read back without the guard
        write_atomically(map_file, partial(ingest.write_delimited, table))
    _write(copies, out)
    return copies


def put_back(
    tables: Sequence[Path],
    map_file: Path,
    out: Path,
    config: ReadConfig,
    note: Callable[[str], None],
    *,
    raw: bool = False,
    force: bool = False,
) -> tuple[list[Copy], int]:
    """Write copies of the tables in which pseudonyms are ids again; how many cells got an apostrophe."""
    _refuse_targets(tables, out, None, None, force)
    known = ingest.read_map(map_file, config)
    found = [ingest.reverse_copy(path, config, known, raw=raw) for path in tables]
    for copy, changed, _ in found:
        note(f"{copy.name}: {changed:,} pseudonyms are ids again")
    copies = [copy for copy, *_ in found]
    _write(copies, out)
    return copies, sum(guarded for *_, guarded in found)


def _refuse_targets(inputs: Sequence[Path], out: Path, key: Path | None, map_file: Path | None, force: bool) -> None:
    """Refuse, before any work, what would overwrite a file, or put a secret among what is handed over."""
    if out.exists() and not out.is_dir():
        raise KedgeError("is a file", file=out, remedy="give a directory")
    for what, path in (("key", key), ("map", map_file)):
        if path is not None and path.resolve().is_relative_to(out.resolve()):
            raise KedgeError(f"the {what} is in the directory of the copies", file=path, remedy="keep it elsewhere")
    read = [path.resolve() for path in (*inputs, key) if path is not None]
    if map_file is not None:
        if map_file.resolve() in read:
            raise KedgeError("is an input itself", file=map_file, remedy="choose another name for the map")
        refuse_overwrite(map_file, force)
    names = [path.name for path in inputs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise KedgeError(f"two files are called {twice}", remedy="copy them into two directories")
    for target in (out / name for name in names):
        if target.resolve() in read:
            raise KedgeError("is an input itself", file=target, remedy="write to another directory")
        if target.exists() and not force:
            raise KedgeError("exists already", file=target, remedy="choose another directory, or use --force")
    refuse_directory(out, names)


def _forms(order: Order) -> dict[str, str]:
    """The fields to hash with their forms; a field that is named twice is refused."""
    hashed = {}
    for word in order.fields:
        name, _, form = word.partition(":")
        if form and form not in ingest.FORMS:
            raise KedgeError(f"no form {form!r} of a field", remedy=f"choose one of: {', '.join(ingest.FORMS)}")
        hashed[name] = form or ingest.form_of(name)
    named = [*hashed, *order.keep, *order.drop]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise KedgeError(f"field {twice!r} is named twice", remedy="name it in one of --fields, --keep and --drop")
    return hashed


def _copies(order: Order, key: Path | None, config: ReadConfig, note: Callable[[str], None]) -> list[Copy]:
    """All copies in memory, so that nothing is written where one of the files is refused."""
    fields = _forms(order)
    if key is None:
        raise KedgeError("no key", remedy="make one with --new-key KEYFILE, then give it with --key KEYFILE")
    secret, notes = read_key(key)
    copies = [ingest.copy_pairs(path, config, secret, anchors=False) for path in order.networks]
    copies += [ingest.copy_pairs(path, config, secret, anchors=True) for path in order.anchors]
    known = [ingest.copy_profiles(path, config, order.ids, fields, list(order.keep), secret) for path in order.profiles]
    there = {name for copy in known for name in (*copy.fields, *copy.kept, *copy.dropped)}
    if unknown := next((name for name in (*fields, *order.keep, *order.drop) if name not in there), None):
        remedy = did_you_mean(unknown, there, f"its fields are: {', '.join(sorted(there)) or 'none'}")
        raise KedgeError(f"no profiles have a field {unknown!r}", remedy=remedy)
    for copy in (*copies, *known):
        unnamed = [name for name in copy.dropped if name not in order.drop]
        dropped = (f"dropped: {', '.join(unnamed)}",) if unnamed else ()
        notes += tuple(f"{copy.name}: {line}" for line in (*copy.notes, *dropped))
    for line in notes:
        note(line)
    return copies + known


def _write(copies: Sequence[Copy], out: Path) -> None:
    with translate_disk_errors(out):
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
    for copy in copies:
        write_atomically(out / copy.name, partial(ingest.write_copy, copy))


def copy_facts(copies: Sequence[Copy]) -> list[dict[str, Any]]:
    """What became of each file, as JSON types."""
    return [
        {
            "file": copy.name,
            "rows": copy.table.num_rows,
            "ids": len(copy.ids),
            "hashed": dict(copy.fields),
            "kept": list(copy.kept),
            "dropped": list(copy.dropped),
        }
        for copy in copies
    ]
