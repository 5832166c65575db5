"""Where numba saves compiled functions, so that kedge also runs where it may write nowhere."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_VARIABLE: Final = "NUMBA_CACHE_DIR"
_PREFIX: Final = "kedge-numba-"


def ensure_compile_cache() -> None:
    """Choose a temporary directory if numba finds no place of its own: it would refuse to compile anything.

    Called before numba is loaded. The directory is new and removed at the end: numba runs the code that it finds in its
    cache, so a name that others could have made first must not be used.
    """
    if compile_cache() is not None or os.environ.get(_VARIABLE):
        return
    with contextlib.suppress(OSError):  # no temporary directory either: numba gives its own reason
        folder = tempfile.mkdtemp(prefix=_PREFIX)
        os.environ[_VARIABLE] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


def compile_cache() -> Path | None:
    """Where compiled functions are saved for good: as set, next to the sources, or the user's cache; None: nowhere."""
    if given := os.environ.get(_VARIABLE):
        return None if Path(given).name.startswith(_PREFIX) else Path(given)
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path fails without a home)
    return next((place for place in (Path(__file__).parents[1], Path(user)) if _can_write(place)), None)


def _can_write(place: Path) -> bool:
    """Whether files can be made in this directory, or it can be made itself."""
    there = next(parent for parent in (place.absolute(), *place.absolute().parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return True
    except OSError:
        return False
