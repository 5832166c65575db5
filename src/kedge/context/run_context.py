"""What a method may use while it works: a cache of finished work, and where to report its progress.

An entry is cached under a key made of all that it depends on, so that a repeated command, a calibration with fewer
anchors and the next match after a review find it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from kedge import __version__


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


@dataclass
class Noting:
    """Passes everything on, and keeps the notes."""

    to: Progress
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Kept."""
        self.notes.append(text)
        self.to.note(text)

    def stage(self, name: str, done: bool = False) -> None:
        """Passed on."""
        self.to.stage(name, done)

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Passed on."""
        self.to.advance(done, total, detail)


@dataclass(frozen=True)
class Within:
    """Progress of one of several runs: what it reports is a share of one of `total`, and begins no stage."""

    to: Progress
    done: int
    total: int
    what: str

    def note(self, text: str) -> None:
        """Passed on."""
        self.to.note(text)

    def stage(self, name: str, done: bool = False) -> None:
        """Part of the one that has begun."""

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """A fraction of this run."""
        share = min(done / total, 1.0) if total else 0.0
        self.to.advance(self.done + share, self.total, f"{self.what} {self.done + 1} of {self.total}: {detail}")


_LIBRARIES: Final = ("numpy", "torch")  # another version of these may round differently


def digest(settings: Any, *arrays: NDArray[Any]) -> str:
    """A key that two entries of work share only if all that they depend on is the same."""
    versions = [__version__, *map(_version, _LIBRARIES)]
    sha = hashlib.sha256(json.dumps([versions, settings], sort_keys=True).encode())
    for array in arrays:
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()[:32]


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:  # a sketch needs no torch
        return ""


def spawn_seeds(seed: int, count: int = 3) -> list[int]:
    """`count` independent seeds; by default of the left network, of the right one, and of what follows."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(count)]


@dataclass(frozen=True)
class CacheEntry:
    """A finished piece of work: named arrays, and facts that fit into JSON."""

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Cache(Protocol):
    """Where finished work is stored."""

    @property
    def lasts(self) -> bool:
        """Whether entries outlive the process, and a copy of the cache in another process has the same entries."""
        ...

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

    lasts = False

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
    """A cache, and where progress is reported; `scratch` is where unfinished work may lie, the cache if not given."""

    cache: Cache = field(default_factory=MemoryCache)
    progress: Progress = field(default_factory=Silent)
    scratch: Cache | None = None
