"""`kedge pseudonymise`: copies of networks, anchors and profiles without names, and the way back for their owner."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json, print_table
from kedge.errors import KedgeError, did_you_mean

if TYPE_CHECKING:
    from kedge.config import ReadConfig
    from kedge.ingest import Copy


@options.guarded
def pseudonymise(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Networks; with --reverse, tables of pseudonyms.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where the copies go.")] = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="KEYFILE", help="The secret key, the same for both sides.")
    ] = None,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", metavar="KEYFILE", help="Make a key, and nothing else.")
    ] = None,
    anchors: Annotated[
        list[Path] | None, typer.Option("--anchors", "-a", metavar="FILE", help="Known pairs, repeatable.")
    ] = None,
    profiles: Annotated[
        list[Path] | None, typer.Option("--profiles", metavar="FILE", help="Profiles of accounts, repeatable.")
    ] = None,
    columns: options.Columns = None,
    anchor_columns: options.AnchorColumns = None,
    ids: Annotated[str, typer.Option(metavar="COLUMN", help="Profiles: the column of ids; by default the first.")] = "",
    fields: Annotated[
        str,
        typer.Option(metavar="NAME[:text|email|phone],...", help="Profiles: fields to replace by pseudonyms."),
    ] = "",
    keep: Annotated[
        str, typer.Option(metavar="NAME,...", help="Profiles: fields to copy as they are; all others are dropped.")
    ] = "",
    drop: Annotated[str, typer.Option(metavar="NAME,...", help="Profiles: fields to drop without a note.")] = "",
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="Write each id with its pseudonym (CSV): keep it.")
    ] = None,
    reverse: Annotated[
        Path | None, typer.Option("--reverse", metavar="MAP", help="Put the ids of a --map back into tables.")
    ] = None,
    raw: options.Raw = False,
    max_input_memory: options.MaxInputMemory = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Copy networks, anchors and profiles with ids and chosen fields replaced by pseudonyms, or put the ids back.

    A pseudonym is a keyed hash (HMAC-SHA256): two parties with the same key get the same pseudonyms, and can match
    without exchanging names. A graph without names is not anonymous: edges alone can identify people, which is what
    kedge does. Hand copies only to those whom you would trust with the names; keep key and map to yourself.
    """
    from kedge.config import resolve

    inputs = [*(files or ()), *(anchors or ()), *(profiles or ())]
    if new_key is not None:
        if inputs or key is not None or reverse is not None:
            raise KedgeError("--new-key makes a key and nothing else", remedy="then give the key with --key")
        _make_key(new_key, json)
        return
    if not inputs or out is None:
        raise KedgeError("nothing to copy", remedy="give files and -o DIR, or make a key with --new-key KEYFILE")
    if reverse is not None and (key or map_file or anchors or profiles):
        raise KedgeError("--reverse needs a map and tables alone", remedy="give neither key nor anchors nor profiles")
    _refuse_targets(inputs, out, key, map_file, force)
    config = resolve(overrides=options.read_settings(max_input_memory, columns, anchor_columns=anchor_columns)).read
    with Reporter(quiet).open() as reporter:
        if reverse is not None:
            copies = _put_back(inputs, reverse, config, raw, reporter)
        else:
            chosen = _choose(fields, keep, drop)
            copies = _copy(files or [], anchors or [], profiles or [], key, config, ids, chosen, reporter)
        _write(copies, out, map_file)
    if reverse is not None and not json:
        for copy in copies:
            print(f"{copy.table.num_rows:,} rows in {out / copy.name}")
    else:
        _print(copies, out, map_file, json)


def _make_key(path: Path, json: bool) -> None:
    from kedge.store import make_key

    make_key(path)
    if json:
        print_json({"key": str(path)})
    else:
        print(f"A new key in {path}: share it with the other side over another way than the copies.")


def _refuse_targets(inputs: list[Path], out: Path, key: Path | None, map_file: Path | None, force: bool) -> None:
    """Refuse, before any work, what would overwrite a file, or put a secret among what is handed over."""
    from kedge.store import refuse_directory, refuse_overwrite

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


def _choose(fields: str, keep: str, drop: str) -> tuple[dict[str, str], list[str], list[str]]:
    """The fields to hash with their forms, those to keep, those to drop."""
    from kedge.ingest import FORMS, form_of

    def words(text: str) -> list[str]:
        return [word.strip() for word in text.split(",") if word.strip()]

    hashed = {}
    for word in words(fields):
        name, _, form = word.partition(":")
        if form and form not in FORMS:
            raise KedgeError(f"no form {form!r} of a field", remedy=f"choose one of: {', '.join(FORMS)}")
        hashed[name] = form or form_of(name)
    named = [*hashed, *words(keep), *words(drop)]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise KedgeError(f"field {twice!r} is named twice", remedy="name it in one of --fields, --keep and --drop")
    return hashed, words(keep), words(drop)


def _copy(
    files: list[Path],
    anchors: list[Path],
    profiles: list[Path],
    key: Path | None,
    config: ReadConfig,
    ids: str,
    chosen: tuple[dict[str, str], list[str], list[str]],
    reporter: Reporter,
) -> list[Copy]:
    """All copies in memory, so that nothing is written where one of the files is refused."""
    from kedge.ingest import copy_pairs, copy_profiles
    from kedge.store import read_key

    if key is None:
        raise KedgeError("no key", remedy="make one with --new-key KEYFILE, then give it with --key KEYFILE")
    secret, notes = read_key(key)
    fields, keep, drop = chosen
    copies = [copy_pairs(path, config, secret, anchors=False) for path in files]
    copies += [copy_pairs(path, config, secret, anchors=True) for path in anchors]
    known = [copy_profiles(path, config, ids, fields, keep, secret) for path in profiles]
    there = {name for copy in known for name in (*copy.fields, *copy.kept, *copy.dropped)}
    if unknown := next((name for name in (*fields, *keep, *drop) if name not in there), None):
        remedy = did_you_mean(unknown, there, f"its fields are: {', '.join(sorted(there)) or 'none'}")
        raise KedgeError(f"no profiles have a field {unknown!r}", remedy=remedy)
    for copy in (*copies, *known):
        unnamed = [name for name in copy.dropped if name not in drop]
        dropped = (f"dropped: {', '.join(unnamed)}",) if unnamed else ()
        notes += tuple(f"{copy.name}: {note}" for note in (*copy.notes, *dropped))
    for note in notes:
        reporter.note(note)
    return copies + known


def _put_back(files: list[Path], map_file: Path, config: ReadConfig, raw: bool, reporter: Reporter) -> list[Copy]:
    from kedge.ingest import read_map, reverse_copy

    known = read_map(map_file, config)
    found = [reverse_copy(path, config, known, raw=raw) for path in files]
    for copy, changed, _ in found:
        reporter.note(f"{copy.name}: {changed:,} pseudonyms are ids again")
    note_guarded(sum(guarded for *_, guarded in found))
    return [copy for copy, *_ in found]


def _write(copies: list[Copy], out: Path, map_file: Path | None) -> None:
    from kedge.ingest import guard_table, join_map, write_copy, write_delimited
    from kedge.store import translate_disk_errors, write_atomically

    if map_file is not None:
        table, _ = guard_table(join_map(copies))  # read back without the guard
        write_atomically(map_file, partial(write_delimited, table))
    with translate_disk_errors(out):
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
    for copy in copies:
        write_atomically(out / copy.name, partial(write_copy, copy))


def _print(copies: list[Copy], out: Path, map_file: Path | None, json: bool) -> None:
    rows: list[dict[str, Any]] = [
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
    if json:
        print_json({"directory": str(out), "map": None if map_file is None else str(map_file), "files": rows})
        return
    print_table(
        f"Copies in {out}",
        ("file", "hashed", "kept", "dropped", "ids", "rows"),
        [
            (
                row["file"],
                ", ".join(f"{name} ({form})" for name, form in row["hashed"].items()) or "-",
                ", ".join(row["kept"]) or "-",
                ", ".join(row["dropped"]) or "-",
                f"{row['ids']:,}",
                f"{row['rows']:,}",
            )
            for row in rows
        ],
        left=4,
    )
