"""Libraries that are installed on request, `pip install 'kedge[EXTRA]'`, under the names of pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from kedge.errors import KedgeError

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "mgcn": ("torch", "networkit"),
    "plots": ("matplotlib",),
    "review": ("starlette", "uvicorn"),
    "cluster": ("distributed",),
    "xlsx": ("xlsxwriter",),
    "profiles": ("rapidfuzz",),
    "duckdb": ("duckdb",),
}


def missing_libraries(extra: str) -> tuple[str, ...]:
    """The libraries of an extra that are not installed."""
    return tuple(library for library in EXTRAS[extra] if find_spec(library) is None)


def need_extra(extra: str, what: str) -> None:
    """Refuse, with the command that installs it, what needs an extra that is not installed."""
    missing = missing_libraries(extra)
    if missing:
        libraries = " and ".join(missing)
        raise KedgeError(f"{what} needs {libraries}", remedy=f"install with: pip install 'kedge[{extra}]'")
