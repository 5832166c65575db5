"""The keys of cached work: two are equal only if all that the work depends on is."""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kedge import __version__

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
