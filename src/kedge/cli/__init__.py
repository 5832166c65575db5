"""The command line: words -> configuration -> pipeline. Thin; heavy imports happen inside the commands."""

from __future__ import annotations

from typing import Annotated

import typer

from kedge.cli import (
    about,
    comparing,
    data,
    embedding,
    explaining,
    exporting,
    matching,
    purging,
    reporting,
    reproducing,
    reviewing,
    synthesis,
)

__all__ = ["app", "main"]

app = typer.Typer(
    name="kedge",
    help="Link the accounts of one person across two networks: ranked, calibrated, explained matches.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(asked: bool) -> None:
    if asked:
        from kedge import __version__

        print(f"kedge {__version__}")
        raise typer.Exit


@app.callback()
def _kedge(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for _command in (
    matching.demo,
    data.check,
    matching.match,
    matching.evaluate,
    reporting.report,
    reviewing.review,
    reviewing.decisions,
    purging.purge,
    explaining.explain,
    exporting.export,
    embedding.embed,
    synthesis.synth,
    comparing.compare,
    reproducing.reproduce,
    about.config,
    about.doctor,
):
    app.command()(_command)


def main() -> None:
    """The entry point."""
    app()
