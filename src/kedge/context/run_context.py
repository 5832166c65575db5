"""What a method may use while it works: a cache of finished work, and where to report its progress.

An entry is cached under a key made of all that it depends on, so that a repeated command, a calibration with fewer
anchors and the next match after a review find it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from kedge.context.progress import Progress, Silent


@dataclass(frozen=True)
class CacheEntry:
    """A finished piece of work: named arrays, and facts that fit into JSON."""

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Cache(Protocol):
    """Where finished work is stored."""

    def get(self, key: str) -> CacheEntry | None:
        """The entry, or None where there is none or it is damaged."""
        ...

    def put(self, key: str, entry: CacheEntry) -> None:
        """Store an entry, whole or not at all."""
        ...

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries that are not needed again."""
        ...


def get_or_make(cache: Cache, key: str, make: Callable[[], CacheEntry]) -> CacheEntry:
    """The entry under this key; made and stored where the cache does not have it yet."""
    held = cache.get(key)
    if held is None:
        held = make()
        cache.put(key, held)
    return held


class MemoryCache:
    """A cache that lasts as long as its owner."""

    def __init__(self) -> None:
        self._entries: dict[str, CacheEntry] = {}

    def get(self, key: str) -> CacheEntry | None:
        """The entry, if it is there."""
        return self._entries.get(key)

    def put(self, key: str, entry: CacheEntry) -> None:
        """Store it."""
        self._entries[key] = entry

    def drop(self, keys: Collection[str]) -> None:
        """Remove them."""
        for key in keys:
            self._entries.pop(key, None)


@dataclass(frozen=True)
class RunContext:
    """A cache, and where progress is reported."""

    cache: Cache = field(default_factory=MemoryCache)
    progress: Progress = field(default_factory=Silent)
