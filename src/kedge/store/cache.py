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
from kedge.store.atomic import refuse_special, remove_leftovers, translate_disk_errors, write_atomically

_SUFFIX: Final = ".safetensors"


def _checksum(arrays: Mapping[str, NDArray[Any]], words: str = "") -> str:
    sha = hashlib.sha256(words.encode())
    for name in sorted(arrays):
        sha.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode())
        sha.update(np.ascontiguousarray(arrays[name]).data)
    return sha.hexdigest()


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _is_whole(label: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether key, facts and arrays are as they were written; up to format 5 the checksum was of the arrays alone."""
    if "sha256" in label:
        return bool(label["sha256"] == _checksum(arrays))
    words = _dump({name: value for name, value in label.items() if name != "checksum"})
    return bool(label["checksum"] == _checksum(arrays, words))


class DiskCache:
    """Entries in a directory that is made with the first of them; a damaged one counts as absent and is named."""

    def __init__(self, directory: Path, warn: Callable[[str], object]) -> None:
        self._directory = directory
        self._warn = warn
        self._used: set[str] = set()

    lasts = True

    def __getstate__(self) -> dict[str, Any]:
        """For another process on this machine: the same directory; it has no one to warn."""
        return {"_directory": self._directory, "_warn": len, "_used": set()}

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}{_SUFFIX}"

    def get(self, key: str) -> CacheEntry | None:
        """The entry, if its file is there and whole."""
        path = self._path(key)
        if not refuse_special(path):
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                label = json.loads(file.metadata()["kedge"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
                whole = label["key"] == key and _is_whole(label, arrays)
        except (SafetensorError, OSError, TypeError, KeyError, ValueError, AttributeError):
            whole = False
        if not whole:
            self._warn(f"{self._directory.name}/{path.name} was damaged and is computed again")
            return None
        self._used.add(key)
        return CacheEntry(arrays, label["facts"])

    def put(self, key: str, entry: CacheEntry) -> None:
        """Write the entry, whole or not at all."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in entry.arrays.items()}
        words = _dump({"key": key, "facts": dict(entry.facts)})
        label = _dump({**json.loads(words), "checksum": _checksum(arrays, words)})
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
            remove_leftovers(self._directory)
            with contextlib.suppress(OSError):
                self._directory.rmdir()
