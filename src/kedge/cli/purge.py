"""`kedge purge`: remove an account from a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import input_line, print_json
from kedge.errors import KedgeError


def _ask(run: Path, account: str) -> None:
    """Go on only if the user agrees; where there is no terminal to ask on, `--yes` is needed."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise KedgeError("purging cannot be undone, and there is no terminal to ask on", remedy="give --yes")
    answer = input_line(f"Remove {account!r} from {run} for good? This cannot be undone. [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise KedgeError("nothing was removed", remedy="answer y, or give --yes")


@guarded
def purge(
    run: RunDirectory,
    account: Annotated[str, typer.Argument(metavar="ID", help="The account, exactly as in the file.")],
    side: Annotated[str | None, typer.Option(help="left or right, if both networks have this id.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Remove an account from networks, scores, matches, report and decisions of a run; this cannot be undone.

    The log of decisions still verifies. Matching the same files again ignores the account. Your input files and
    exported files are not changed.
    """
    from dataclasses import asdict

    from kedge.pipeline.purge import check_side
    from kedge.pipeline.purge import purge as forget

    check_side(side)
    if not yes:
        _ask(run, account)
    purged = forget(run, account, side)
    reporter = Reporter()
    for note in purged.notes(run):
        reporter.note(note)
    if json:
        print_json({"run": str(run), **asdict(purged)})
    else:
        print(purged.sentence)
