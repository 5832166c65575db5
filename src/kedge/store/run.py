"""The run directory: what was computed, and every artefact with its checksum.

A run is resumed by the same call again: finished stages are loaded, the rest is computed. Other inputs or
another configuration in the same directory are refused with the difference named.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from kedge.context import Progress, RunContext, Silent, cpu_seconds, peak_mb
from kedge.errors import KedgeError
from kedge.store.atomic import TEMPORARY, translate_disk_errors, write_atomically
from kedge.store.cache import DiskCache
from kedge.store.decisions import DECISIONS_FILE
from kedge.store.formats import JSON, Format
from kedge.store.layout import EMBEDDINGS, MANIFEST, Stage
from kedge.store.locking import LOCKS, lock_run
from kedge.store.manifest import Identity, hash_file, new_manifest, read_manifest, refuse_other
from kedge.store.purged import PURGED_FILE

T = TypeVar("T")
_HARMLESS: Final = (TEMPORARY, *LOCKS, DECISIONS_FILE, PURGED_FILE)


@dataclass
class Run:
    """An open, locked run directory."""

    directory: Path
    manifest: dict[str, Any]
    progress: Progress = field(default_factory=Silent)

    def __post_init__(self) -> None:
        self.cache = DiskCache(self.directory / EMBEDDINGS, self.progress.note)
        self.context = RunContext(self.cache, self.progress)

    def stage(self, stage: Stage, compute: Callable[[], Any]) -> Any:
        """The value of a stage: loaded if it is on the disk and whole, else computed, written and recorded."""
        path = self.directory / stage.file
        record = self.manifest["stages"].get(stage.id)
        if record is not None and record["artefact"] == stage.file:
            if _is_whole(path, record):
                self.progress.stage(stage.label, True)
                return stage.format.load(path)
            self.progress.note(f"{stage.file} was damaged or missing and is computed again")
        self.progress.stage(stage.label, False)
        before = cpu_seconds()
        value = compute()
        spent = cpu_seconds() - before
        self.write(stage.file, stage.format, value)
        self.manifest["stages"][stage.id] = {
            "artefact": stage.file,
            **_fingerprint(path),
            "cpu_seconds": round(spent, 3),
            "peak_mb": round(peak_mb(), 1),
        }
        self.save_manifest()
        return value

    def rewrite(self, stage: Stage, change: Callable[[Any], Any]) -> None:
        """Change the file of a finished stage, and its record in the manifest: it counts as whole."""
        path = self.directory / stage.file
        self.write(stage.file, stage.format, change(stage.format.load(path)))
        self.manifest["stages"][stage.id] |= _fingerprint(path)
        self.save_manifest()

    def write(self, file: str, kind: Format[T], value: T) -> None:
        """Put a file into the directory, whole or not at all."""
        path = self.directory / file
        with translate_disk_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, lambda opened: kind.dump(value, opened))

    def save(self, stage: Stage, make: Callable[[], Any]) -> None:
        """Save what is known already, so that a finished run can be read back."""
        self.stage(stage, make)

    def save_manifest(self) -> None:
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
def open_run(
    directory: Path,
    identity: Identity,
    *,
    force: bool = False,
    lasting: Collection[Stage] = (),
    progress: Progress | None = None,
) -> Iterator[Run]:
    """Open a run directory for work: make it, resume it, or refuse it. Holds its lock until the end.

    New decisions of reviewers do not make another run: all but the `lasting` stages are then dropped and computed
    again. Their files go too: a reader would take them for this run's, and a purge would pass them by.
    """
    manifest = _manifest_to_resume(directory, identity, force)
    with translate_disk_errors(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_run(directory):
        for leftover in directory.rglob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)
        if manifest is None or force or manifest["run_id"] != identity.run_id:
            before = {} if manifest is None else manifest["stages"]
            manifest = new_manifest(identity)
            _drop_stages(directory, before, set() if force else {stage.id for stage in lasting})
            manifest["stages"] = before
            write_atomically(directory / MANIFEST, lambda file: JSON.dump(manifest, file))
        yield Run(directory, manifest, progress or Silent())


def _drop_stages(directory: Path, stages: dict[str, Any], lasting: Collection[str]) -> None:
    for name in stages.keys() - set(lasting):
        remove_artefact(directory, stages.pop(name)["artefact"])


def _manifest_to_resume(directory: Path, identity: Identity, force: bool) -> dict[str, Any] | None:
    """The manifest of the run that lies there, None where there is none; refuses what is not this run's."""
    if directory.exists() and not directory.is_dir():
        raise KedgeError("is a file", file=directory, remedy="give a directory for the run")
    if not (directory / MANIFEST).exists():
        if directory.exists() and any(not path.name.startswith(_HARMLESS) for path in directory.iterdir()):
            raise KedgeError("is not empty and not a kedge run", file=directory, remedy="give a new directory")
        return None
    try:
        manifest = read_manifest(directory)
    except KedgeError:  # damaged, or of another version: that is what --force is for
        if not force:
            raise
        return None
    if not force:
        refuse_other(directory, manifest, identity)
    return manifest
