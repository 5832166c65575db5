"""Who is told how far the work has come."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "Silent"]


class Progress(Protocol):
    """Who is told how far the work has come."""

    def note(self, text: str) -> None:
        """A line for the user."""
        ...

    def stage(self, name: str, done: bool = False) -> None:
        """A stage begins, or was found finished."""
        ...

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """How far the stage has come."""
        ...


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Nothing."""

    def stage(self, name: str, done: bool = False) -> None:
        """Nothing."""

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Nothing."""
