"""The manifest of a run: what was asked for, what is done; manifests that earlier versions wrote are migrated."""

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
from typing import Any, Final

from kedge.config import differences, stored_config
from kedge.errors import KedgeError
from kedge.store.layout import MANIFEST, STAGES

FORMAT: Final = 5  # of the manifests that this version writes
_GROWING: Final = "decisions"  # the one input that may change within a run
_LIBRARIES: Final = ("kedge", "numpy", "scipy", "pyarrow", "torch", "numba", "networkit", "faiss-cpu")


def hash_file(path: Path) -> dict[str, Any]:
    """Name, size and SHA-256 of an input."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}


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


def new_manifest(identity: Identity) -> dict[str, Any]:
    """The manifest of a run in which nothing is done yet."""
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = metadata.version(library)
    return {
        "format": FORMAT,
        "run_id": identity.run_id,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": versions,
        "seed": identity.config.get("seed"),
        "inputs": {name: dict(entry) for name, entry in identity.inputs.items()},
        "config": dict(identity.config),
        "stages": {},
    }


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a run in today's format, or one line with the reason why there is none."""
    path = directory / MANIFEST
    if not directory.is_dir():
        raise KedgeError("no such run directory", file=directory, remedy="give the directory of `kedge match -o`")
    try:
        manifest = _migrate(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise KedgeError(
            "is not a kedge run: it has no manifest.json", file=directory, remedy="check the path"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise KedgeError("the manifest is damaged", file=path, remedy="run again with --force") from None
    if manifest is None:
        raise KedgeError("was written by another version of kedge", file=path, remedy="run again with --force")
    return manifest


def refuse_other(directory: Path, manifest: Mapping[str, Any], identity: Identity) -> None:
    """Raise, with every difference named, if the directory holds a run with other inputs or settings."""
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


def _from_4(manifest: dict[str, Any]) -> dict[str, Any]:
    """Stages were known by their labels, and some settings had other names. Files are where they were."""
    by_file = {stage.file: stage.id for stage in STAGES.values()}
    records = [record for record in manifest["stages"].values() if record["artefact"] in by_file]
    config = stored_config(manifest["config"]).identity()
    return {
        **manifest,
        "run_id": Identity(manifest["inputs"], config).run_id,
        "config": config,
        "stages": {by_file[record["artefact"]]: record for record in records},
    }


_STEPS: Final[Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {4: _from_4}


def _migrate(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """The manifest in today's format; None where it is of a version that cannot be read."""
    while manifest.get("format") != FORMAT:
        step = _STEPS.get(manifest.get("format", -1))
        if step is None:
            return None
        manifest = {**step(manifest), "format": manifest["format"] + 1}
    return manifest
