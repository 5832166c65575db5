"""`kedge purge`: forget a person."""

from __future__ import annotations

from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import Reporter, print_json
from kedge.errors import KedgeError

__all__ = ["purge"]


@guarded
def purge(
    run: RunDirectory,
    account: Annotated[str, typer.Argument(metavar="ID", help="The account, exactly as in the file.")],
    side: Annotated[str | None, typer.Option(help="left or right, where both networks have this id.")] = None,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Forget an account: out of networks, scores, matches, report and decisions; it cannot be brought back.

    The log of decisions still verifies. Matching the same files again leaves the account out. Your input files and
    what was exported are yours: they are not touched.
    """
    from dataclasses import asdict

    from kedge.cli.reporting import write_report
    from kedge.pipeline import load_contents
    from kedge.pipeline import purge as forget
    from kedge.pipeline.layout import DECIDED, REPORT

    if side not in (None, "left", "right"):
        raise KedgeError(f"no side {side!r}", remedy="choose left or right")
    purged = forget(run, account, side)
    if (run / DECIDED).exists():
        write_report(load_contents(run), run / REPORT)
    reporter = Reporter()
    if purged.noted:
        places = ", ".join(map(str, purged.noted))
        reporter.note(f"notes of other decisions hold this id as a text: {places}")
    for name in purged.named:
        reporter.note(f"{run / name} still holds this id as a text: look at it yourself")
    if json:
        print_json({"run": str(run), **asdict(purged)})
    else:
        print(
            f"forgotten on the {purged.side}: {purged.edges:,} edges, {purged.anchors:,} anchors, "
            f"{purged.candidates:,} candidates, {purged.decisions:,} entries of the log"
        )
