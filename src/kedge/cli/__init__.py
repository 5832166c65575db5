"""The command line: arguments -> configuration -> pipeline. Thin; heavy imports happen inside the commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Final, NoReturn

import typer

from kedge.cli.help_text import Command, Group
from kedge.cli.start import drop_output, open_streams, run_words, write_line

__all__ = ["COMMANDS", "app", "main"]

app = typer.Typer(
    name="kedge",
    help="Link the accounts of one person across two networks: ranked, calibrated, explained matches.",
    cls=Group,
    no_args_is_help=True,
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


# In the order of `kedge --help`. A command is a function of the same name in a file of the same name.
_NAMES: Final = (
    "demo check match decide audit evaluate report review decisions purge explain export "
    "pseudonymise embed synth compare reproduce config doctor"
)
COMMANDS: Final[dict[str, Callable[..., None]]] = {
    name: getattr(import_module(f"{__name__}.{name}"), name) for name in _NAMES.split()
}
for _name, _command in COMMANDS.items():
    app.command(_name, cls=Command)(_command)


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The entry point: exit code 2 and one line for a usage error, as for every other mistake of a user."""
    open_streams()
    try:
        code = run_words(app, list(sys.argv[1:] if words is None else words) or ["--help"])
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output(sys.stdout)
        code = 0
    except OSError as error:
        drop_output(sys.stdout)
        write_line(f"kedge: cannot write the output: {error.strerror}")
        code = 2
    sys.exit(code)
