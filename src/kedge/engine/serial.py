"""One job after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Serial"]


@dataclass(frozen=True)
class Serial:
    """The plainest engine."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """In order."""
        for place, argument in enumerate(arguments):
            yield place, job(argument)
