"""What a method may use while it works: a shelf for finished pieces, and somebody to tell how far it has come.

A piece is kept under a key made of all that it depends on, so whoever asks for the same gets the same: a repeated
command, a calibration with fewer anchors, the next match after a review.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from kedge.progress import Progress, Silent

__all__ = ["MemoryShelf", "Piece", "Shelf", "Workshop", "get_or_make"]


@dataclass(frozen=True)
class Piece:
    """A finished piece of work: named arrays, and facts that JSON can say."""

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Shelf(Protocol):
    """Where finished pieces lie."""

    def get(self, key: str) -> Piece | None:
        """The piece, or None where there is none or it is damaged."""
        ...

    def put(self, key: str, piece: Piece) -> None:
        """Keep a piece, whole or not at all."""
        ...

    def drop(self, keys: Collection[str]) -> None:
        """Forget pieces that nobody will ask for again."""
        ...


def get_or_make(shelf: Shelf, key: str, make: Callable[[], Piece]) -> Piece:
    """The piece under this key; made and kept where it does not lie there yet."""
    held = shelf.get(key)
    if held is None:
        held = make()
        shelf.put(key, held)
    return held


class MemoryShelf:
    """A shelf that lasts as long as its owner."""

    def __init__(self) -> None:
        self._pieces: dict[str, Piece] = {}

    def get(self, key: str) -> Piece | None:
        """The piece, if it is there."""
        return self._pieces.get(key)

    def put(self, key: str, piece: Piece) -> None:
        """Keep it."""
        self._pieces[key] = piece

    def drop(self, keys: Collection[str]) -> None:
        """Forget them."""
        for key in keys:
            self._pieces.pop(key, None)


@dataclass(frozen=True)
class Workshop:
    """A shelf, and who is told."""

    shelf: Shelf = field(default_factory=MemoryShelf)
    progress: Progress = field(default_factory=Silent)
