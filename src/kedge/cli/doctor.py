"""`kedge doctor`: what kedge runs on."""

from __future__ import annotations

import os
import platform
from typing import Any

from kedge.cli.options import Debug, Json, guarded
from kedge.cli.show import print_json, print_table

_LIBRARIES = "numpy scipy numba faiss-cpu pyarrow pydantic typer rich torch networkit".split()


@guarded
def doctor(json: Json = False, debug: Debug = False) -> None:  # noqa: ARG001 (read by the guard)
    """Print versions, cores, memory, threads, and which optional parts are installed."""
    facts = _facts()
    if json:
        print_json(facts)
        return
    rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, dict)]
    rows += [(f"library {name}", version) for name, version in facts["libraries"].items()]
    rows += [
        (f"extra {name}", "installed" if there else f"not installed: pip install 'kedge[{name}]'")
        for name, there in facts["extras"].items()
    ]
    print_table("kedge doctor", ("", ""), rows, left=2)


def _facts() -> dict[str, Any]:
    from kedge import __version__
    from kedge.context import EXTRAS, compile_cache, cores, memory, missing_libraries

    return {
        "kedge": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "cores usable": cores(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set"),
        "memory GB": round(memory().total / 1e3, 1),
        "memory available GB": round(memory().available / 1e3, 1),
        "compiled functions": str(compile_cache() or "not saved; set NUMBA_CACHE_DIR to a directory"),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "extras": {name: not missing_libraries(name) for name in EXTRAS},
    }


def _version(library: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "missing"
