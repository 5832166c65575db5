"""The secret key of pseudonyms: a file of its own, made once, readable by its owner alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from kedge.context import user_file
from kedge.errors import KedgeError
from kedge.store.atomic import NO_FOLLOW, refuse_special, sync_directory, translate_disk_errors

_BYTES: Final = 32  # as many as SHA-256 gives: more add nothing
_LONGEST: Final = 4096


def make_key(path: Path) -> None:
    """Write a new key of 32 random bytes, as 64 hex digits in one line, mode 0600; no file is ever overwritten."""
    with translate_disk_errors(path):
        if refuse_special(path):
            raise KedgeError("exists already, and a key is never overwritten", file=path, remedy="choose another name")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(f"{secrets.token_hex(_BYTES)}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink()
            raise
        sync_directory(path.parent)


def read_key(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a key file, white space around them aside, and a note where others may read it.

    No message has any of its bytes in it.
    """
    file = user_file(path, _LONGEST, remedy="this is no key; make one with --new-key")
    with file.open() as opened:
        key = opened.read().strip()
    if len(key) < _BYTES:
        raise KedgeError(
            f"a key of {len(key)} bytes, where at least {_BYTES} are needed",
            file=path,
            remedy="make one with --new-key",
        )
    others = os.name != "nt" and file.content is None and path.stat().st_mode & 0o077
    return key, (f"others may read the key {path}: chmod 600 {path}",) if others else ()
