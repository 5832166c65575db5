"""The run directory: what was asked, what is done, and every artefact with its checksum.

A run is resumed by asking for the same again: finished stages are loaded, the rest is computed. Other inputs or
another configuration in the same directory are refused with the difference named.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import resource
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final, TypeVar

from kedge.config import differences
from kedge.errors import KedgeError
from kedge.store.atomic import TEMPORARY, translate_disk_errors, write_atomically
from kedge.store.decisions import DECISIONS_FILE
from kedge.store.formats import JSON, Format, dump_json
from kedge.store.locking import LOCKS, lock_run
from kedge.store.shelf import DiskShelf
from kedge.store.suppressed import PURGED_FILE

__all__ = [
    "MANIFEST",
    "Identity",
    "Run",
    "cpu_seconds",
    "hash_file",
    "open_run",
    "peak_mb",
    "read_manifest",
    "remove_artefact",
]

T = TypeVar("T")
MANIFEST: Final = "manifest.json"
_FORMAT: Final = 4
_GROWING: Final = "decisions"  # the one input that may change within a run
_HARMLESS: Final = (TEMPORARY, *LOCKS, DECISIONS_FILE, PURGED_FILE)
_LIBRARIES: Final = ("kedge", "numpy", "scipy", "pyarrow", "torch", "numba", "networkit", "faiss-cpu")


def hash_file(path: Path) -> dict[str, Any]:
    """Name, size and SHA-256 of an input."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def cpu_seconds() -> float:
    """CPU time of this process and its finished children."""
    mine, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def peak_mb() -> float:
    """The largest resident memory of this process so far."""
    # A new process inherits its parent's ru_maxrss; VmHWM is its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


@dataclass(frozen=True)
class Identity:
    """What makes two runs the same: inputs (by content) and resolved configuration."""

    inputs: Mapping[str, Mapping[str, Any]]
    config: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """A short name that two runs share only if they were asked the same."""
        text = json.dumps([self._hashes(), self.config], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _hashes(self) -> dict[str, Any]:
        return {name: entry["sha256"] for name, entry in self.inputs.items()}


@dataclass
class Run:
    """An open, locked run directory."""

    directory: Path
    manifest: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    on_stage: Callable[[str, bool], None] = lambda _name, _done: None

    def stage(self, name: str, artefact: str, kind: Format[T], compute: Callable[[], T]) -> T:
        """The value of a stage: loaded if it is on the disk and whole, else computed, written and recorded."""
        path = self.directory / artefact
        record = self.manifest["stages"].get(name)
        if record is not None and record["artefact"] == artefact:
            if _is_whole(path, record):
                self.on_stage(name, True)
                loaded: T = kind.load(path)
                return loaded
            self.notes.append(f"{artefact} was damaged or missing and is computed again")
        self.on_stage(name, False)
        before = cpu_seconds()
        value = compute()
        spent = cpu_seconds() - before
        self.write(artefact, kind, value)
        self.manifest["stages"][name] = {
            "artefact": artefact,
            **_fingerprint(path),
            "cpu_seconds": round(spent, 3),
            "peak_mb": round(peak_mb(), 1),
        }
        self.save()
        return value

    def shelf(self, folder: str) -> DiskShelf:
        """A shelf in the directory, for pieces that are known by their content."""
        return DiskShelf(self.directory / folder, self.notes.append)

    def rewrite(self, name: str, kind: Format[T], change: Callable[[T], T]) -> None:
        """Change the artefact of a finished stage, and say so in the manifest: it counts as whole."""
        record = self.manifest["stages"][name]
        path = self.directory / record["artefact"]
        self.write(record["artefact"], kind, change(kind.load(path)))
        self.manifest["stages"][name] = {**record, **_fingerprint(path)}
        self.save()

    def write(self, artefact: str, kind: Format[T], value: T) -> None:
        """Put a file into the directory, whole or not at all."""
        path = self.directory / artefact
        with translate_disk_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, lambda file: kind.dump(value, file))

    def save(self) -> None:
        """Write the manifest."""
        self.write(MANIFEST, JSON, self.manifest)


def remove_artefact(directory: Path, artefact: str) -> None:
    """Remove a file that a manifest names, but never one outside its directory: manifests come from others too."""
    path = directory / artefact
    if path.resolve().is_relative_to(directory.resolve()):
        path.unlink(missing_ok=True)


def _fingerprint(path: Path) -> dict[str, Any]:
    return {name: value for name, value in hash_file(path).items() if name != "name"}


def _is_whole(path: Path, record: Mapping[str, Any]) -> bool:
    try:
        return bool(path.stat().st_size == record["bytes"] and hash_file(path)["sha256"] == record["sha256"])
    except OSError:
        return False


@contextlib.contextmanager
def open_run(directory: Path, identity: Identity, force: bool = False, lasting: Collection[str] = ()) -> Iterator[Run]:
    """Open a run directory for work: make it, resume it, or say why not. Holds its lock until the end.

    New decisions of reviewers are no other run: all but the `lasting` stages are then forgotten and computed again.
    What a forgotten stage left goes too: a reader would take it for this run's, and a purge would pass it by.
    """
    existed = directory.exists()
    if existed and not directory.is_dir():
        raise KedgeError("is a file", file=directory, remedy="give a directory for the run")
    is_run = (directory / MANIFEST).exists()
    try:
        manifest = read_manifest(directory) if is_run else None
    except KedgeError:  # damaged, or of another version: that is what --force is for
        if not force:
            raise
        manifest = None
    if not is_run and existed and any(not p.name.startswith(_HARMLESS) for p in directory.iterdir()):
        raise KedgeError("is not empty and not a kedge run", file=directory, remedy="give a new directory")
    if manifest is not None and not force:
        _refuse_other(directory, manifest, identity)
    with translate_disk_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_run(directory):
        for leftover in directory.rglob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)
        if manifest is None or force or manifest["run_id"] != identity.run_id:
            before = {} if manifest is None else manifest["stages"]
            manifest = _new_manifest(identity)
            manifest["stages"] = {} if force else {name: before[name] for name in before if name in lasting}
            for name in before.keys() - manifest["stages"].keys():
                remove_artefact(directory, before[name]["artefact"])
            write_atomically(directory / MANIFEST, lambda file: file.write(dump_json(manifest).encode()))
        yield Run(directory, manifest)


def _new_manifest(identity: Identity) -> dict[str, Any]:
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = metadata.version(library)
    return {
        "format": _FORMAT,
        "run_id": identity.run_id,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": versions,
        "seed": identity.config.get("seed"),
        "inputs": {name: dict(entry) for name, entry in identity.inputs.items()},
        "config": dict(identity.config),
        "stages": {},
    }


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a run, or one line that says why this is none."""
    path = directory / MANIFEST
    if not directory.is_dir():
        raise KedgeError("no such run directory", file=directory, remedy="give the directory of `kedge match -o`")
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise KedgeError(
            "is not a kedge run: it has no manifest.json", file=directory, remedy="check the path"
        ) from None
    except (OSError, ValueError):
        raise KedgeError("the manifest is damaged", file=path, remedy="run again with --force") from None
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise KedgeError("was written by another version of kedge", file=path, remedy="run again with --force")
    return manifest


def _refuse_other(directory: Path, manifest: Mapping[str, Any], identity: Identity) -> None:
    old = {name: entry["sha256"] for name, entry in manifest["inputs"].items() if name != _GROWING}
    new = {name: entry["sha256"] for name, entry in identity.inputs.items() if name != _GROWING}
    changed = [f"{name} is another file" for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    # Through JSON, so that tuples and lists compare equal.
    changed += differences(manifest["config"], json.loads(json.dumps(identity.config)))
    if changed:
        raise KedgeError(
            f"holds a run with other inputs or settings ({'; '.join(changed)})",
            file=directory,
            remedy="choose another directory, or start anew with --force",
        )
