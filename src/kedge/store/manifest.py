"""The manifest of a run: what was asked for, what is done, and the size and checksum of every file.

It has a checksum of itself. Manifests that earlier versions wrote are migrated when they are read; decision 31 has what
each format changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, Final

from kedge.config import differences, stored_config
from kedge.context import UserFile
from kedge.errors import KedgeError
from kedge.ingest import split_table
from kedge.store.atomic import open_regular, write_atomically
from kedge.store.formats import JSON
from kedge.store.journal import finish_purge
from kedge.store.layout import CONFIG, DECIDED, EMBEDDINGS, EVALUATION, MANIFEST, METRICS, STAGES
from kedge.store.sealed import is_sealed, seal

FORMAT: Final = 7  # of the manifests that this version writes
_DECIDABLE: Final = ("decide.precision:", "decide.threshold:", "decide.assignment:")
_GROWING: Final = "decisions"  # the one input that may change within a run
_LIBRARIES: Final = ("kedge", "numpy", "scipy", "pyarrow", "torch", "numba", "networkit", "faiss-cpu")


def fingerprint(file: BinaryIO) -> dict[str, Any]:
    """Size and SHA-256 of an open file, in little memory."""
    digest, size = hashlib.sha256(), 0
    while block := file.read(1 << 20):
        digest.update(block)
        size += len(block)
    return {"bytes": size, "sha256": digest.hexdigest()}


def hash_file(source: str | Path | UserFile) -> dict[str, Any]:
    """Name, size and SHA-256 of an input; of one table of a database, its name counts too."""
    if isinstance(source, UserFile):
        with source.open() as opened:
            return {"name": source.path.name, **fingerprint(opened)}
    name, table = split_table(source)
    path = Path(name)
    with path.open("rb") as file:
        found = {"name": path.name, **fingerprint(file)}
    if table:
        found["name"] = f"{path.name}::{table}"
        found["sha256"] = hashlib.sha256(f"{found['sha256']}::{table}".encode()).hexdigest()
    return found


@dataclass(frozen=True)
class Identity:
    """What makes two runs the same: inputs (by content) and resolved configuration."""

    inputs: Mapping[str, Mapping[str, Any]]
    config: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        """A short name that two runs share only if inputs and configuration are the same."""
        hashes = {name: entry["sha256"] for name, entry in self.inputs.items()}
        return hashlib.sha256(json.dumps([hashes, self.config], sort_keys=True).encode()).hexdigest()[:12]


def library_versions() -> dict[str, str]:
    """Of Python, and of the installed libraries that a result may depend on."""
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = metadata.version(library)
    return versions


def new_manifest(identity: Identity) -> dict[str, Any]:
    """The manifest of a run in which nothing is done yet."""
    versions = library_versions()
    return {
        "format": FORMAT,
        "run_id": identity.run_id,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": versions,
        "seed": identity.config.get("seed"),
        "inputs": {name: dict(entry) for name, entry in identity.inputs.items()},
        "config": dict(identity.config),
        "stages": {},
        "files": {},
    }


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a run in today's format, or one line with the reason why there is none."""
    path = directory / MANIFEST
    if not directory.is_dir():
        raise KedgeError("no such run directory", file=directory, remedy="give the directory of `kedge match -o`")
    finish_purge(directory)
    try:
        with open_regular(path) as file:
            manifest = JSON.load(file)
        # A manifest with a checksum must fit it, whatever format it names: that too may be the damage.
        damaged = not isinstance(manifest, dict) or ("checksum" in manifest and not is_sealed(manifest))
    except FileNotFoundError:
        raise KedgeError(
            "is no run: it has no manifest.json", file=directory, remedy="give a directory that `kedge match -o` made"
        ) from None
    except (OSError, ValueError, RecursionError):
        damaged = True
    if damaged:
        raise _damaged(path)
    try:
        migrated = _migrate(manifest, directory)
        if migrated is not None:
            _check_shape(migrated)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise _damaged(path) from None
    if migrated is None:
        raise KedgeError("was written by another version of kedge", file=path, remedy="run again with --force")
    return migrated


def _damaged(path: Path) -> KedgeError:
    return KedgeError("the manifest is damaged", file=path, remedy="run its `kedge match` command again with --force")


def write_manifest(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Put the manifest in place, with its checksum."""
    write_atomically(directory / MANIFEST, lambda file: JSON.dump(seal(manifest), file))


def _check_shape(manifest: Mapping[str, Any]) -> None:
    """Raise where a manifest without a checksum lacks what its readers take for granted."""
    records = [*manifest["stages"].values(), *manifest["files"].values()]
    texts = [manifest["run_id"], manifest["created"], *(r["sha256"] for r in records)]
    texts += [r["artefact"] for r in manifest["stages"].values()]
    texts += [entry[name] for entry in manifest["inputs"].values() for name in ("name", "sha256")]
    numbers = [r["bytes"] for r in records] + [r.get("cpu_seconds", 0) for r in records]
    sound = all(isinstance(text, str) for text in texts) and all(isinstance(n, int | float) for n in numbers)
    if not (sound and isinstance(manifest["versions"], dict)):
        raise ValueError("not a manifest")


def refuse_other(directory: Path, manifest: Mapping[str, Any], identity: Identity) -> None:
    """Raise, with every difference named, if the directory holds a run with other inputs or settings."""
    old = {name: entry["sha256"] for name, entry in manifest["inputs"].items() if name != _GROWING}
    new = {name: entry["sha256"] for name, entry in identity.inputs.items() if name != _GROWING}
    changed = [f"{name} is another file" for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    # Through JSON, so that tuples and lists compare equal.
    changed += differences(manifest["config"], json.loads(json.dumps(identity.config)))
    if changed:
        remedy = "choose another directory, or start anew with --force"
        if all(line.startswith(_DECIDABLE) for line in changed):
            remedy = f"`kedge decide` changes decisions without matching again; or {remedy}"
        raise KedgeError(
            f"holds a run with other inputs or settings ({'; '.join(changed)})", file=directory, remedy=remedy
        )


def _from_4(manifest: dict[str, Any], _directory: Path) -> dict[str, Any]:
    """Stages were known by their labels. Files are where they were."""
    by_file = {stage.file: stage.id for stage in STAGES.values()}
    records = [record for record in manifest["stages"].values() if record["artefact"] in by_file]
    return {**manifest, "stages": {by_file[record["artefact"]]: record for record in records}}


def _from_5(manifest: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Only the files of stages had checksums; the others have those of their present contents."""
    files = [directory / name for name in (CONFIG, DECIDED, METRICS, EVALUATION)]
    files += sorted((directory / EMBEDDINGS).glob("*.safetensors"))
    records = {}
    for path in files:
        with contextlib.suppress(FileNotFoundError), open_regular(path) as file:
            records[path.relative_to(directory).as_posix()] = fingerprint(file)
    return {**manifest, "files": records}


def _from_6(manifest: dict[str, Any], _directory: Path) -> dict[str, Any]:
    """A setting is gone (`decide.confidence`), and probabilities were estimated otherwise: a run keeps its own."""
    return manifest


_STEPS: Final[Mapping[int, Callable[[dict[str, Any], Path], dict[str, Any]]]] = {4: _from_4, 5: _from_5, 6: _from_6}


def _migrate(manifest: dict[str, Any], directory: Path) -> dict[str, Any] | None:
    """The manifest in today's format; None where it is of a version that cannot be read.

    Settings have today's names, and those that the run does not know their defaults: the same command resumes it.
    """
    while manifest.get("format") != FORMAT:
        step = _STEPS.get(manifest.get("format", -1))
        if step is None:
            return None
        manifest = {**step(manifest, directory), "format": manifest["format"] + 1}
    manifest = {name: value for name, value in manifest.items() if name != "checksum"}
    config = stored_config(manifest["config"]).identity()
    if config == manifest["config"]:
        return manifest
    return {**manifest, "config": config, "run_id": Identity(manifest["inputs"], config).run_id}
