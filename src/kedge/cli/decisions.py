"""`kedge decisions`: what reviewers decided, exported or verified."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from kedge.cli.options import Debug, Force, Json, Raw, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError

_COLUMNS: Final = ("left", "right")


@guarded
def decisions(
    run: RunDirectory,
    action: Annotated[str, typer.Argument(metavar="export|verify", help="What to do with the decisions.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="export: confirmed pairs, TSV or CSV by its ending."),
    ] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="export: rejected pairs too, into this file.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="verify: a head that was printed before must still be in the log."),
    ] = None,
    raw: Raw = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Export what reviewers decided as anchors, or verify that the log is unchanged."""
    from kedge.store import DECISIONS_FILE, open_decisions, read_decisions, read_manifest

    read_manifest(run)
    path = run / DECISIONS_FILE
    if action not in ("export", "verify"):
        raise KedgeError(f"no action {action!r}", remedy="choose export or verify")
    if head is not None and (action != "verify" or not re.fullmatch("[0-9a-f]{64}", head)):
        raise KedgeError(f"--head {head} is no head", remedy="give the 64 digits that `verify` or `review` printed")
    if not path.exists():
        read_decisions(run)  # refuses if there were some
        raise KedgeError("there are no decisions yet", file=path, remedy=f"start with `kedge review {run}`")
    log = open_decisions(run, head)
    resolved = log.state.resolved()
    newest = log.newest
    after = next((i for i, entry in enumerate(reversed(log.state.entries)) if entry.hash == head), newest.count)
    log.close()
    counts = {
        "confirmed": len(resolved.confirmed),
        "rejected": len(resolved.rejected),
        "disputed": len(resolved.disputed),
        "contradictions": len(resolved.contradictions),
    }
    if action == "verify":
        facts: dict[str, Any] = {"entries": newest.count, "head": newest.hash}
        lines = [f"{newest.count:,} entries, all as they were written; head {newest.hash}"]
        if head is not None:
            facts["after_head"] = after
            lines.append(f"{after:,} entries came after the given head")
    else:
        written = _export(((out, resolved.confirmed), (rejected, resolved.rejected)), raw, force)
        facts = {"files": [str(file) for file in written]}
        lines = [f"{count:,} pairs in {file}" for file, count in written.items()]
        reporter = Reporter()
        if resolved.contradictions:
            reporter.note(
                f"{len(resolved.contradictions)} accounts have several confirmed partners; their pairs are not exported"
            )
        if resolved.disputed:
            reporter.note(f"{len(resolved.disputed)} pairs on which reviewers disagree are not exported")
    if json:
        print_json({**facts, **counts})
    else:
        print(*lines, sep="\n")


def _export(wanted: Sequence[tuple[Path | None, Sequence[tuple[str, str]]]], raw: bool, force: bool) -> dict[Path, int]:
    """Write each list of pairs whose file has a name, as `kedge match` reads them; the number of pairs by file."""
    import pyarrow as pa

    from kedge.ingest import guard_table, write_delimited
    from kedge.store import refuse_overwrite, write_atomically

    named = {file: pairs for file, pairs in wanted if file is not None}
    if not named:
        raise KedgeError("export needs a file", remedy="name it with -o confirmed.tsv or --rejected rejected.tsv")
    for file in named:
        _delimiter(file)
        refuse_overwrite(file, force)
    changed = 0
    for file, pairs in named.items():
        sides = {name: pa.array([pair[side] for pair in pairs], pa.string()) for side, name in enumerate(_COLUMNS)}
        table, more = (pa.table(sides), 0) if raw else guard_table(pa.table(sides))
        write_atomically(file, partial(write_delimited, table, delimiter=_delimiter(file)))
        changed += more
    note_guarded(changed)
    return {file: len(pairs) for file, pairs in named.items()}


def _delimiter(file: Path) -> str:
    kind = file.suffix.lower()
    if kind not in (".tsv", ".csv"):
        raise KedgeError("no such format", file=file, remedy="end the name in .tsv or .csv")
    return "\t" if kind == ".tsv" else ","
