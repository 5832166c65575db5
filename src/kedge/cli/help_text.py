"""How help is shown and completed: flags without a type, and the names that an option takes.

Names come from the files of the package and not from its modules: `kedge --help` must not wait for these.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

import kedge


def method_names() -> list[str]:
    """The names of all methods: each has a file of that name; kedge's own come first."""
    files = (Path(kedge.__file__).parent / "methods").glob("[!_]*.py")
    names = sorted(path.stem.replace("_", "-") for path in files)
    return sorted(names, key=lambda name: name not in ("kedge", "evidence", "mgcn"))


def completing(names: Callable[[], list[str]] | list[str]) -> Callable[[str], list[str]]:
    """What completes an option that takes one of these names."""

    def complete(incomplete: str) -> list[str]:
        known = names() if callable(names) else names
        # Of `a,b,c` the last one is completed.
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in known if name.startswith(last)]

    return complete


class Command(TyperCommand):
    """A command whose flags have no type in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with the one for help."""
        return without_types(super().get_params(ctx))


class Group(TyperGroup):
    """All commands; the same."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with the one for help."""
        return without_types(super().get_params(ctx))


def without_types(params: list[Any]) -> list[Any]:
    """The parameters; those that take no value show none."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
