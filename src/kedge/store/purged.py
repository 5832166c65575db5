"""Who was purged from a run, so that matching the same files again does not bring them back.

Only HMAC-SHA-256 digests of the ids are saved, under a random key in a file of its own: a file that names an account
again can be recognised, but without the key no id can be guessed. With the key a guess can be checked, as it must be.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any, Final

import numpy as np

from kedge.store.atomic import open_regular
from kedge.store.formats import JSON, TEXT
from kedge.store.journal import Draft
from kedge.store.sealed import is_sealed, seal
from kedge.types import IntArray, KedgeError, Network, Problem

PURGED_FILE: Final = "purged.json"
KEY_FILE: Final = "purged.key"
_SIDES: Final = ("left", "right")
_PROBE: Final = "kedge"  # its digest shows whether the key is the one that made the others
_REMEDY: Final = "restore it from a copy; without it purged accounts would come back"


def _digest(key: str, text: str) -> str:
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()


def _salted(salt: str, text: str) -> str:
    """As up to format 5."""
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()


def record_purged(directory: Path, draft: Draft, side: int, name: str) -> None:
    """Note that an account of one side must not come back; 0 is left."""
    held, key = _load(directory)
    if held is None or not key:
        key = secrets.token_hex(32)
        held = {"probe": _digest(key, _PROBE), "left": [], "right": [], "salted": held or {}}
        draft.write(KEY_FILE, TEXT, key)
    held[_SIDES[side]] = sorted({*held[_SIDES[side]], _digest(key, name)})
    draft.write(PURGED_FILE, JSON, seal(held))


def purged_accounts(directory: Path, problem: Problem) -> tuple[IntArray, IntArray]:
    """The accounts of a problem, read anew from its files, that were purged from this directory."""
    held, key = _load(directory)

    def found(network: Network, side: str) -> IntArray:
        if held is None:
            return np.empty(0, np.int64)
        earlier = held.get("salted", {}) if key else held
        keyed, salted = frozenset(held[side] if key else ()), frozenset(earlier.get(side, ()))
        if not keyed and not salted:
            return np.empty(0, np.int64)
        accounts = [
            account
            for account, name in enumerate(network.ids.to_pylist())
            if (keyed and _digest(key, name) in keyed) or (salted and _salted(earlier["salt"], name) in salted)
        ]
        return np.array(accounts, np.int64)

    return found(problem.left, "left"), found(problem.right, "right")


def _load(directory: Path) -> tuple[dict[str, Any] | None, str]:
    """What is recorded, and the key; both are checked. No key: as a version up to format 5 wrote it."""
    path = directory / PURGED_FILE
    try:
        with open_regular(path) as file:
            held = JSON.load(file)
        sound = isinstance(held, dict) and (is_sealed(held) if "salt" not in held else _is_old(held))
    except FileNotFoundError:
        if (directory / KEY_FILE).exists():
            raise KedgeError("is missing", file=path, remedy=_REMEDY) from None
        return None, ""
    except (OSError, ValueError):
        sound = False
    if not sound:
        raise KedgeError("is damaged: it does not match its checksum", file=path, remedy=_REMEDY)
    if "salt" in held:
        return held, ""
    try:
        with open_regular(directory / KEY_FILE) as file:
            key = TEXT.load(file)
    except (OSError, ValueError):
        key = ""
    if _digest(key, _PROBE) != held["probe"]:
        raise KedgeError("is damaged or missing", file=directory / KEY_FILE, remedy=_REMEDY)
    return held, key


def _is_old(held: dict[str, Any]) -> bool:
    lists = [held.get(side) for side in _SIDES]
    return isinstance(held["salt"], str) and all(isinstance(digests, list) for digests in lists)
