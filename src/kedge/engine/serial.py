"""One job after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kedge.config import EngineConfig
from kedge.engine.memory import refuse_too_large


class Serial:
    """The plainest engine."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """In order."""
        for place, argument in enumerate(arguments):
            yield place, job(argument)


def make(config: EngineConfig, megabytes_each: float, note: Callable[[str], None]) -> Serial:
    """Refused where one job needs more memory than is allowed."""
    refuse_too_large(config, megabytes_each)
    note(f"engine serial: one part after the other, about {megabytes_each:,.0f} MB each")
    return Serial()
