"""The command line: arguments -> configuration -> pipeline. Thin; heavy imports happen inside the commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from kedge.cli import (
    check,
    compare,
    config,
    decisions,
    demo,
    doctor,
    embed,
    evaluate,
    explain,
    export,
    match,
    purge,
    report,
    reproduce,
    review,
    synth,
)

__all__ = ["COMMANDS", "app", "main"]

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


# The order of `kedge --help`. A command is a function of the same name in a file of the same name.
COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "demo": demo.demo,
    "check": check.check,
    "match": match.match,
    "evaluate": evaluate.evaluate,
    "report": report.report,
    "review": review.review,
    "decisions": decisions.decisions,
    "purge": purge.purge,
    "explain": explain.explain,
    "export": export.export,
    "embed": embed.embed,
    "synth": synth.synth,
    "compare": compare.compare,
    "reproduce": reproduce.reproduce,
    "config": config.config,
    "doctor": doctor.doctor,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


def main() -> None:
    """The entry point."""
    app()
