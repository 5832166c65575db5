"""`kedge pseudonymise`: copies of networks, anchors and profiles without names, and the way back for their owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json, print_table
from kedge.errors import KedgeError

if TYPE_CHECKING:
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
    if new_key is not None:
        if files or anchors or profiles or key is not None or reverse is not None:
            raise KedgeError("--new-key makes a key and nothing else", remedy="then give the key with --key")
        _make_key(new_key, json)
        return
    from kedge.config import resolve
    from kedge.pipeline.pseudonymise import Order, copy_files, put_back

    if not (files or anchors or profiles) or out is None:
        raise KedgeError("nothing to copy", remedy="give files and -o DIR, or make a key with --new-key KEYFILE")
    if reverse is not None and (key or map_file or anchors or profiles):
        raise KedgeError("--reverse needs a map and tables alone", remedy="give neither key nor anchors nor profiles")
    config = resolve(overrides=options.read_settings(max_input_memory, columns, anchor_columns=anchor_columns)).read
    sources = (tuple(files or ()), tuple(anchors or ()), tuple(profiles or ()))
    order = Order(*sources, ids, _words(fields), _words(keep), _words(drop))
    with Reporter(quiet).open() as reporter:
        if reverse is None:
            copies = copy_files(order, out, key, map_file, config, reporter.note, force=force)
        else:
            copies, guarded = put_back(order.networks, reverse, out, config, reporter.note, raw=raw, force=force)
            note_guarded(guarded)
    if reverse is not None and not json:
        for copy in copies:
            print(f"{copy.table.num_rows:,} rows in {out / copy.name}")
    else:
        _print(copies, out, map_file, json)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _make_key(path: Path, json: bool) -> None:
    from kedge.store import make_key

    make_key(path)
    if json:
        print_json({"key": str(path)})
    else:
        print(f"A new key in {path}: share it with the other side over another way than the copies.")


def _print(copies: list[Copy], out: Path, map_file: Path | None, json: bool) -> None:
    from kedge.pipeline.pseudonymise import copy_facts

    rows: list[dict[str, Any]] = copy_facts(copies)
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
