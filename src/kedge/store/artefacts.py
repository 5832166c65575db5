"""The files of a run, read: each is checked against its record in the manifest before anything is parsed from it.

This is the only way to read a file of a run. A file is opened once. It is hashed block by block and then parsed from
the same open file: no other can be put in its place between the check and the reading, and a large file is never in
memory twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from kedge.errors import KedgeError
from kedge.store.atomic import open_regular
from kedge.store.formats import Format
from kedge.store.layout import EMBEDDINGS, Stage
from kedge.store.manifest import fingerprint, read_manifest

T = TypeVar("T")
_REMEDY: Final = "run its `kedge match` command again: it computes what is damaged once more"


@dataclass(frozen=True)
class Artefacts:
    """A run directory and its manifest."""

    directory: Path
    manifest: Mapping[str, Any]

    def record(self, file: str) -> Mapping[str, Any] | None:
        """Size and checksum of a file, or None where the run has no such file."""
        recorded: Mapping[str, Any] | None = self.manifest["files"].get(file)
        if recorded is not None:
            return recorded
        return next((r for r in self.manifest["stages"].values() if r["artefact"] == file), None)

    def has(self, file: str) -> bool:
        """Whether the run has such a file; a file that the manifest does not name is no part of it."""
        return self.record(file) is not None

    @contextlib.contextmanager
    def open(self, file: str) -> Iterator[BinaryIO]:
        """A file of the run, open for reading, after the check of its size and checksum."""
        path, record = self.directory / file, self.record(file)
        if record is None:
            raise KedgeError("is not in this run", file=path, remedy="run its `kedge match` command again")
        if path.parent != self.directory and path.parent.is_symlink():
            raise KedgeError("is a symbolic link", file=path.parent, remedy="put the directory itself there")
        try:
            opened = open_regular(path)
        except FileNotFoundError:
            raise KedgeError("is missing", file=path, remedy=_REMEDY) from None
        except OSError as error:
            raise KedgeError(f"cannot be read ({error.strerror})", file=path, remedy="check the file") from None
        with opened:
            try:
                whole = fingerprint(opened) == {name: record[name] for name in ("bytes", "sha256")}
            except OSError as error:
                raise KedgeError(f"cannot be read ({error.strerror})", file=path, remedy="check the disk") from None
            if not whole:
                raise KedgeError("is damaged: it does not match its checksum", file=path, remedy=_REMEDY)
            opened.seek(0)
            try:
                yield opened
            except (KedgeError, MemoryError):
                raise
            except Exception as error:  # damage from before there were checksums, in whatever way a parser shows it
                raise KedgeError(f"is damaged ({type(error).__name__})", file=path, remedy=_REMEDY) from error

    def is_whole(self, file: str) -> bool:
        """Whether the file is there and as it was written."""
        try:
            with self.open(file):
                return True
        except KedgeError:
            return False

    def read(self, file: str, kind: Format[T]) -> T:
        """The value in a file."""
        with self.open(file) as opened:
            value: T = kind.load(opened)
            return value

    def load(self, stage: Stage) -> Any:
        """The value of a finished stage."""
        return self.read(stage.file, stage.format)

    def vectors(self) -> list[str]:
        """The files of the cache that the finished run recorded."""
        return [file for file in self.manifest["files"] if file.startswith(f"{EMBEDDINGS}/")]


def open_artefacts(directory: Path) -> Artefacts:
    """The files of a run that was made earlier."""
    return Artefacts(directory, read_manifest(directory))
