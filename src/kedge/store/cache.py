"""The cache on disk: one safetensors file per entry, named by its content key, with a checksum inside."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kedge.context import CacheEntry
from kedge.store.atomic import translate_disk_errors, write_atomically

_SUFFIX: Final = ".safetensors"


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    sha = hashlib.sha256()
    for name in sorted(arrays):
        sha.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode())
        sha.update(np.ascontiguousarray(arrays[name]).data)
    return sha.hexdigest()


class DiskCache:
    """Entries in a directory that is made with the first of them; a damaged one counts as absent and is named."""

    def __init__(self, directory: Path, warn: Callable[[str], object]) -> None:
        self._directory = directory
        self._warn = warn
        self._used: set[str] = set()

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}{_SUFFIX}"

    def get(self, key: str) -> CacheEntry | None:
        """The entry, if its file is there and whole."""
        path = self._path(key)
        if not path.exists():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                label = json.loads(file.metadata()["kedge"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
        except (SafetensorError, OSError, TypeError, KeyError, ValueError):
            label, arrays = {}, {}
        if label.get("sha256") != _checksum(arrays) or label.get("key") != key:
            self._warn(f"{self._directory.name}/{path.name} was damaged and is computed again")
            return None
        self._used.add(key)
        return CacheEntry(arrays, label["facts"])

    def put(self, key: str, entry: CacheEntry) -> None:
        """Write the entry, whole or not at all."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in entry.arrays.items()}
        label = json.dumps({"key": key, "sha256": _checksum(arrays), "facts": dict(entry.facts)}, sort_keys=True)
        with translate_disk_errors(self._directory):
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One entry: safetensors keeps no order among several, and the same entry must be the same bytes.
        write_atomically(self._path(key), lambda file: file.write(save(arrays, {"kedge": label})))
        self._used.add(key)

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries."""
        for key in keys:
            self._used.discard(key)
            self._path(key).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what this owner never touched: it belongs to other settings."""
        if self._used and self._directory.is_dir():
            self.drop([path.stem for path in self._directory.glob(f"*{_SUFFIX}") if path.stem not in self._used])

    def clear(self) -> None:
        """Remove the entries and, if nothing else is in it, the directory."""
        if self._directory.is_dir():
            self.drop([path.stem for path in self._directory.glob(f"*{_SUFFIX}")])
            with contextlib.suppress(OSError):
                self._directory.rmdir()
