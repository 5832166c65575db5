"""`kedge audit`: the precision of a run's matches, measured on a random sample that people answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli.options import Debug, Force, Json, Quiet, Raw, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_audit, print_json
from kedge.errors import KedgeError


@guarded
def audit(
    run: RunDirectory,
    answers: Annotated[
        int | None, typer.Option(help="Pairs to ask; a larger number later extends the sample. By default 40.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The sample as CSV; by default RUN/audit.csv; -: stdout."),
    ] = None,
    read: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read answers back: the CSV with yes, no or unsure filled in.")
    ] = None,
    reviewer: Annotated[str | None, typer.Option(help="--read: who answered; by default your user name.")] = None,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Draw from the pairs that are assigned now; answers stay.")
    ] = False,
    raw: Raw = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Measure the precision of a run's matches: a random sample to answer, an unbiased estimate with its interval.

    The first call writes the sample as CSV. Fill in the column answer and read it back with --read, or answer in the
    browser with `kedge review RUN --audit`. Decisions, report and export then follow the answers.
    """
    if read is not None and (out is not None or answers is not None or redraw):
        raise KedgeError("--read reads answers", remedy="draw or extend the sample in a command of its own")
    if json and str(out) == "-":
        raise KedgeError("--json and the sample are both for stdout", remedy="give -o FILE")
    from kedge.pipeline import audit_run, draw_sample, save_answers
    from kedge.store import AUDIT_CSV, read_manifest, refuse_overwrite

    note = Reporter(quiet).note
    written: Path | None = None
    if read is not None:
        fresh = save_answers(run, read, _name(reviewer), note)
        note(f"{fresh:,} new answers from {read}")
    else:
        target = run / AUDIT_CSV if out is None else out
        wanted = out is not None or answers is not None or redraw or not target.exists()
        if wanted and str(out) != "-":
            read_manifest(run)
            refuse_overwrite(target, force)  # answers in it may not be read yet
        sample = draw_sample(run, answers, note, redraw=redraw)
        written = _write(sample, target, raw) if wanted else None
    summary = audit_run(run, note)
    if json:
        print_json({**summary, "file": None if written is None or str(written) == "-" else str(written)})
        return
    if str(written) == "-":
        return
    if written is not None:
        print(
            f"{len(sample):,} pairs in {written}: fill in the column answer, then `kedge audit {run} --read {written}`"
        )
    elif summary["audit"] is None:
        print(
            f"{len(sample):,} pairs are in the sample, none is answered: "
            f"fill in {target}, or answer in the browser with `kedge review {run} --audit`"
        )
    print_audit(summary["audit"])


def _name(reviewer: str | None) -> str:
    """The name that answers are saved with."""
    import getpass

    if reviewer is None:
        try:
            return getpass.getuser()
        except (KeyError, OSError, ImportError):
            return "audit"
    if not reviewer.strip() or not reviewer.isprintable() or len(reviewer) > 80:
        raise KedgeError("--reviewer is not a name", remedy="give 1 to 80 printable characters")
    return reviewer.strip()


def _write(sample: Any, out: Path, raw: bool) -> Path:
    """Write the sample; ids that a spreadsheet would run get an apostrophe."""
    import sys

    from kedge.ingest import guard_table, write_delimited
    from kedge.pipeline import sample_table
    from kedge.store import write_atomically

    table, changed = sample_table(sample), 0
    if not raw:
        table, changed = guard_table(table)
    if str(out) == "-":
        sys.stdout.flush()
        write_delimited(table, sys.stdout.buffer)
    else:
        write_atomically(out, partial(write_delimited, table))
    note_guarded(changed)
    return out
