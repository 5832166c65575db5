"""`kedge config` and `kedge doctor`: what is set, and what kedge runs on."""

from __future__ import annotations

import os
import platform
from typing import Any

from kedge.cli.options import ConfigFile, Debug, Json, Preset, Seed, Set, guarded
from kedge.cli.show import print_json, print_table

__all__ = ["config", "doctor"]


@guarded
def config(
    preset: Preset = "default",
    file: ConfigFile = None,
    assignments: Set = None,
    seed: Seed = None,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Print the resolved configuration as TOML, with a line of help a field."""
    from kedge.config import resolve, to_toml

    resolved = resolve(preset, file, assignments or (), {} if seed is None else {"seed": seed})
    if json:
        print_json(resolved.model_dump())
    else:
        print(to_toml(resolved), end="")


@guarded
def doctor(json: Json = False, debug: Debug = False) -> None:  # noqa: ARG001
    """Print versions, cores, memory and threads."""
    facts = _facts()
    if json:
        print_json(facts)
        return
    rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, dict)]
    rows += [(f"{name} {library}", version) for name in ("library",) for library, version in facts["libraries"].items()]
    print_table("kedge doctor", ("", ""), rows)


def _facts() -> dict[str, Any]:
    from importlib import metadata

    from kedge.engine.memory import cores

    libraries = {}
    for name in ("torch", "numpy", "scipy", "numba", "networkit", "faiss-cpu", "pyarrow", "pydantic", "typer", "rich"):
        try:
            libraries[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            libraries[name] = "missing"
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    free = os.sysconf("SC_AVPHYS_PAGES") * size
    return {
        "kedge": metadata.version("kedge"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "cores usable": cores(),
        "threads asked (OMP_NUM_THREADS)": os.environ.get("OMP_NUM_THREADS", "not set"),
        "memory GB": round(pages * size / 1e9, 1),
        "memory free GB": round(free / 1e9, 1),
        "libraries": libraries,
    }
