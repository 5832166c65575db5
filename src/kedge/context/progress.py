"""The progress of a command: notes, stages, and how far a stage has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of a command."""

    def note(self, text: str) -> None:
        """A line for the user."""
        ...

    def stage(self, name: str, done: bool = False) -> None:
        """A stage begins, or was found finished."""
        ...

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """The stage has come this far."""
        ...


class Silent:
    """Shows nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def stage(self, name: str, done: bool = False) -> None:
        """Nothing."""

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Nothing."""
