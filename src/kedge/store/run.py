"""The run directory: what was computed, and every file with its checksum.

A run is resumed by the same call again: finished stages are loaded, the rest is computed. Other inputs or
another configuration in the same directory are refused with the difference named.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from kedge.context import Progress, RunContext, Silent, cpu_seconds, peak_mb
from kedge.errors import KedgeError
from kedge.store.artefacts import Artefacts
from kedge.store.atomic import TEMPORARY, open_regular, remove_leftovers, translate_disk_errors, write_atomically
from kedge.store.cache import DiskCache
from kedge.store.formats import JSON, Format
from kedge.store.journal import JOURNALS, finish_locked, remove_draft, remove_inside
from kedge.store.layout import (
    AUDIT,
    DECIDED,
    DECISIONS_FILE,
    EMBEDDINGS,
    EVALUATION,
    HELD_OUT,
    MANIFEST,
    METRICS,
    SCORES,
    STAGES,
    TRAINING,
    Stage,
)
from kedge.store.locking import LOCKS, lock_run
from kedge.store.manifest import Identity, fingerprint, new_manifest, read_manifest, refuse_other, write_manifest
from kedge.store.purged import KEY_FILE, PURGED_FILE
from kedge.store.sealed import seal

T = TypeVar("T")
_HARMLESS: Final = (TEMPORARY, *LOCKS, *JOURNALS, DECISIONS_FILE, PURGED_FILE, KEY_FILE)


@dataclass
class Run:
    """An open, locked run directory."""

    directory: Path
    manifest: dict[str, Any]
    progress: Progress = field(default_factory=Silent)
    begun_here: bool = False  # not resumed: what it does not use of the cache belongs to other settings

    def __post_init__(self) -> None:
        self.cache = DiskCache(self.directory / EMBEDDINGS, self.progress.note)
        self.context = RunContext(self.cache, self.progress)
        self.artefacts = Artefacts(self.directory, self.manifest)

    def stage(self, stage: Stage, compute: Callable[[], Any]) -> Any:
        """The value of a stage: loaded if it is on the disk and whole, else computed, written and recorded."""
        record = self.manifest["stages"].get(stage.id)
        if record is not None and record["artefact"] == stage.file:
            with contextlib.suppress(KedgeError):
                value = self.artefacts.load(stage)
                self.progress.stage(stage.label, True)
                return value
            self.progress.note(f"{stage.file} was damaged or missing and is computed again")
        self.progress.stage(stage.label, False)
        before = cpu_seconds()
        value = compute()
        spent = cpu_seconds() - before
        self._put(stage.file, stage.format, value)
        self.manifest["stages"][stage.id] = {
            "artefact": stage.file,
            **self._fingerprint(stage.file),
            "cpu_seconds": round(spent, 3),
            "peak_mb": round(peak_mb(), 1),
        }
        self.save_manifest()
        return value

    def has(self, stage: Stage) -> bool:
        """Whether the value of a stage has been saved."""
        return stage.id in self.manifest["stages"]

    def save(self, stage: Stage, make: Callable[[], Any]) -> None:
        """Save what is known already, so that a finished run can be read back."""
        self.stage(stage, make)

    def write(self, file: str, kind: Format[T], value: T) -> None:
        """Put a file into the directory, whole or not at all, and record it; one that is the same stays."""
        content = _dumped(kind, value)
        record = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if self.manifest["files"].get(file) != record or not self.artefacts.is_whole(file):
            write_atomically(self.directory / file, lambda opened: opened.write(content))
            self.manifest["files"][file] = record
            self.save_manifest()

    def renew_if_changed(self, stage: Stage, value: Any) -> None:
        """Drop all that was computed from another value than this one, such as accounts in another order."""
        record = self.manifest["stages"].get(stage.id)
        if record is None or hashlib.sha256(_dumped(stage.format, value)).hexdigest() == record["sha256"]:
            return
        self.progress.note(f"{stage.file} is not what this version reads from the same inputs: all is computed again")
        self.drop_stages(())

    def drop_stages(self, lasting: Collection[str]) -> None:
        """Forget all stages but these, and what follows from them; their files go too: a purge would pass them by."""
        stages, files = self.manifest["stages"], self.manifest["files"]
        for name in stages.keys() - set(lasting):
            remove_inside(self.directory, stages.pop(name)["artefact"])
        for file in (DECIDED, METRICS, EVALUATION):
            files.pop(file, None)
            remove_inside(self.directory, file)

    def drop_damaged_vectors(self) -> None:
        """Remove vectors that are not as they were written; what computes them is computed again."""
        for file in self.artefacts.vectors():
            if not self.artefacts.is_whole(file):
                self.progress.note(f"{file} was damaged or missing and is computed again")
                remove_inside(self.directory, file)
                del self.manifest["files"][file]
                for stage in (TRAINING, SCORES):
                    self.manifest["stages"].pop(stage.id, None)

    def record_vectors(self) -> None:
        """Record what the cache has at the end of a run, and nothing else."""
        if self.begun_here:
            self.cache.sweep()
        files = {name: part for name, part in self.manifest["files"].items() if not name.startswith(f"{EMBEDDINGS}/")}
        found = sorted((self.directory / EMBEDDINGS).glob("*.safetensors"))
        vectors = {f"{EMBEDDINGS}/{path.name}": self._fingerprint(f"{EMBEDDINGS}/{path.name}") for path in found}
        if files | vectors != self.manifest["files"]:
            self.manifest["files"] = files | vectors
            self.save_manifest()

    def save_manifest(self) -> None:
        """Write the manifest."""
        write_manifest(self.directory, self.manifest)

    def _put(self, file: str, kind: Format[T], value: T) -> None:
        path = self.directory / file
        with translate_disk_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.parent != self.directory and path.parent.is_symlink():
                raise KedgeError("is a symbolic link", file=path.parent, remedy="put the directory itself there")
        write_atomically(path, lambda opened: kind.dump(value, opened))

    def _fingerprint(self, file: str) -> dict[str, Any]:
        with open_regular(self.directory / file) as opened:
            return fingerprint(opened)


def _dumped(kind: Format[T], value: T) -> bytes:
    buffer = io.BytesIO()
    kind.dump(value, buffer)
    return buffer.getvalue()


@contextlib.contextmanager
def hold_run(directory: Path) -> Iterator[None]:
    """Make a run directory if need be, and hold its lock: no state is read before that.

    Completes what a killed purge left. A directory that was made here and stays empty is removed again.
    """
    with translate_disk_errors(directory):
        _refuse_foreign(directory)
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with lock_run(directory):
            remove_leftovers(directory)
            finish_locked(directory)
            with translate_disk_errors(directory):
                remove_draft(directory)
            yield
    finally:
        with contextlib.suppress(OSError):
            if made and all(path.name.startswith(LOCKS) for path in directory.iterdir()):
                for path in [*directory.iterdir()]:
                    path.unlink()
                for path in made:
                    path.rmdir()


def resume_run(
    directory: Path,
    identity: Identity,
    *,
    force: bool = False,
    lasting: Collection[Stage] = (),
    progress: Progress | None = None,
) -> Run:
    """The run of a directory that is held: begun, resumed, or refused.

    New decisions of reviewers do not make another run: all but the `lasting` stages are then dropped and computed
    again. Held-out pairs, the sample of an audit and the settings of `kedge decide` stay; `force` drops them too.
    """
    earlier = _manifest_to_resume(directory, identity, force)
    progress = progress or Silent()
    if earlier is not None and not force and earlier["run_id"] == identity.run_id:
        run = Run(directory, earlier, progress)
        with open_regular(directory / MANIFEST) as file:
            if file.read() != _dumped(JSON, seal(earlier)):  # of an earlier format
                run.save_manifest()
    else:
        run = Run(directory, new_manifest(identity), progress, begun_here=True)
        if earlier is not None:
            # What `kedge decide` chose holds for new answers of reviewers too.
            kept = ("stages", "files") if force else ("stages", "files", "decide")
            run.manifest |= {name: earlier[name] for name in kept if name in earlier}
        run.drop_stages(() if force else {stage.id for stage in lasting})
        if force:  # files that a damaged manifest does not name any more
            for name in (*(stage.file for stage in STAGES.values()), HELD_OUT, AUDIT):
                remove_inside(directory, name)
                run.manifest["files"].pop(name, None)
        run.save_manifest()
    run.drop_damaged_vectors()
    return run


@contextlib.contextmanager
def open_run(directory: Path, identity: Identity, **how: Any) -> Iterator[Run]:
    """Open a run directory for work: make it, resume it, or refuse it. Holds its lock until the end."""
    with hold_run(directory):
        yield resume_run(directory, identity, **how)


def _refuse_foreign(directory: Path) -> None:
    """A directory of something else is not touched, not even by a lock."""
    if directory.exists() and not directory.is_dir():
        raise KedgeError("is a file", file=directory, remedy="give a directory for the run")
    own = not directory.exists() or (directory / MANIFEST).exists()
    if not own and any(not path.name.startswith(_HARMLESS) for path in directory.iterdir()):
        raise KedgeError("is not empty and not a kedge run", file=directory, remedy="give a new directory")


def _manifest_to_resume(directory: Path, identity: Identity, force: bool) -> dict[str, Any] | None:
    """The manifest of the run that lies there, None where there is none; refuses what is not this run's."""
    if not (directory / MANIFEST).exists():
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
