"""States of a part in training, saved now and then in the cache: a kill loses the time since the last one.

The only file of this room that reads a clock, and no result depends on it: a training that goes on from a state gives
the same bytes as one that was never interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kedge.context import Cache, CacheEntry


@dataclass
class PartStates:
    """The `kedge.mgcn.checkpoint.Checkpoint` of one part; the cache checks that what it reads is whole."""

    cache: Cache
    key: str
    seconds: float  # from one state to the next; a part that takes less has none
    _saved: float = field(default_factory=time.monotonic)

    def load(self, name: str) -> CacheEntry | None:
        """The state of a phase that was saved last."""
        return self.cache.get(self._key(name))

    def save(self, name: str, make: Callable[[], CacheEntry]) -> None:
        """Save a state where the last one is old enough."""
        if time.monotonic() - self._saved >= self.seconds:
            self.cache.put(self._key(name), make())
            self._saved = time.monotonic()

    def clear(self) -> None:
        """Remove the states of a part that is trained."""
        from kedge.mgcn import PHASES

        self.cache.drop([self._key(name) for name in PHASES])

    def _key(self, name: str) -> str:
        return f"{self.key}-{name}"
