"""What kedge runs on: versions, cores, memory, and which optional parts are installed."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any, Final

from kedge import __version__
from kedge.context.compiled import compile_cache
from kedge.context.extras import EXTRAS, missing_libraries
from kedge.context.machine import cores, memory

_LIBRARIES: Final = "numpy scipy numba faiss-cpu pyarrow pydantic typer rich torch networkit".split()


def describe_installation() -> dict[str, Any]:
    """The facts that `kedge doctor` prints."""
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
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "missing"
