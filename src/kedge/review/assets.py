"""The app's own files: every asset comes with the package."""

from __future__ import annotations

from importlib import resources
from typing import Final

__all__ = ["read_assets"]

_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def read_assets() -> dict[str, tuple[bytes, str]]:
    """Every file of the package's `static` folder, read once: a request can only name one of these."""
    folder = resources.files("kedge.review") / "static"
    return {
        file.name: (file.read_bytes(), _TYPES[file.name.rpartition(".")[2]])
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }
