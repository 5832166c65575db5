"""`kedge decisions`: what reviewers decided, exported or verified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli.options import Debug, Force, Json, Raw, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError


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
    from kedge.pipeline import check_head, load_decisions
    from kedge.store import DECISIONS_FILE, read_manifest

    read_manifest(run)
    if action not in ("export", "verify"):
        raise KedgeError(f"no action {action!r}", remedy="choose export or verify")
    if head is not None and action != "verify":
        raise KedgeError("--head is for verify", remedy="leave it out, or verify the log")
    if head is not None:
        check_head(head)
    found = load_decisions(run, head)
    if found is None:
        remedy = f"start with `kedge review {run}`"
        raise KedgeError("there are no decisions yet", file=run / DECISIONS_FILE, remedy=remedy)
    if action == "verify":
        facts: dict[str, Any] = {"entries": found.entries, "head": found.head}
        lines = [f"{found.entries:,} entries, all as they were written; head {found.head}"]
        if head is not None:
            facts["after_head"] = found.after
            lines.append(f"{found.after:,} entries came after the given head")
    else:
        written = _export(((out, found.confirmed), (rejected, found.rejected)), raw, force)
        facts = {"files": [str(file) for file in written]}
        lines = [f"{count:,} pairs in {file}" for file, count in written.items()]
        reporter = Reporter()
        for note in found.notes():
            reporter.note(note)
    if json:
        print_json({**facts, **found.counts()})
    else:
        print(*lines, sep="\n")


def _export(wanted: Sequence[tuple[Path | None, Sequence[tuple[str, str]]]], raw: bool, force: bool) -> dict[Path, int]:
    """Write each list of pairs whose file has a name; the number of pairs by file."""
    from kedge.pipeline import write_pairs

    named = {file: pairs for file, pairs in wanted if file is not None}
    if not named:
        raise KedgeError("export needs a file", remedy="name it with -o confirmed.tsv or --rejected rejected.tsv")
    note_guarded(write_pairs(named, raw=raw, force=force))
    return {file: len(pairs) for file, pairs in named.items()}
