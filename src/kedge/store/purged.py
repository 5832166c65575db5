"""Who was purged from a run, so that matching the same files again does not bring them back.

Only salted SHA-256 digests of the ids are kept: a file that names an account again can be recognised, but the id cannot
be read off.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any, Final

import numpy as np

from kedge.store.atomic import write_atomically
from kedge.store.formats import JSON
from kedge.types import IntArray, Network, Problem

PURGED_FILE: Final = "purged.json"
_SIDES: Final = ("left", "right")


def _digest(salt: str, text: str) -> str:
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()


def record_purged(directory: Path, side: int, name: str) -> None:
    """Note that an account of one side must not come back; 0 is left."""
    held = _load(directory) or {"salt": secrets.token_hex(16), "left": [], "right": []}
    held[_SIDES[side]] = sorted({*held[_SIDES[side]], _digest(held["salt"], name)})
    write_atomically(directory / PURGED_FILE, lambda file: JSON.dump(held, file))


def purged_accounts(directory: Path, problem: Problem) -> tuple[IntArray, IntArray]:
    """The accounts of a problem, read anew from its files, that were purged from this directory."""
    held = _load(directory)

    def found(network: Network, side: str) -> IntArray:
        if held is None or not held[side]:
            return np.empty(0, np.int64)
        digests = frozenset(held[side])
        names = network.ids.to_pylist()
        return np.array([i for i, name in enumerate(names) if _digest(held["salt"], name) in digests], np.int64)

    return found(problem.left, "left"), found(problem.right, "right")


def _load(directory: Path) -> dict[str, Any] | None:
    path = directory / PURGED_FILE
    return JSON.load(path) if path.exists() else None
