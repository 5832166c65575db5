"""`kedge audit`: the precision of a run's matches, measured on a random sample that people answer."""

from __future__ import annotations

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
    from kedge.pipeline import answering_reviewer, audit_run, draw_sample, save_answers
    from kedge.store import AUDIT_CSV, read_manifest, refuse_overwrite

    note = Reporter(quiet).note
    written: Path | None = None
    if read is not None:
        fresh = save_answers(run, read, answering_reviewer(reviewer), note)
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


def _write(sample: Any, out: Path, raw: bool) -> Path:
    """Write the sample, into a file or to stdout."""
    import sys

    from kedge.pipeline import dump_sample, write_sample

    if str(out) == "-":
        sys.stdout.flush()
        note_guarded(dump_sample(sample, sys.stdout.buffer, raw=raw))
    else:
        note_guarded(write_sample(sample, out, raw=raw))
    return out
