"""The report of a run, put in its place."""

from __future__ import annotations

from pathlib import Path

from kedge.errors import KedgeError
from kedge.report import build_report
from kedge.store import Contents, write_atomically


def write_report(contents: Contents, path: Path) -> Path:
    """Write the page, whole or not at all; an older report is replaced, any other file is not."""
    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give the name of a file")
    if path.exists() and b'content="kedge' not in path.read_bytes()[:4096]:
        raise KedgeError("exists and is no kedge report", file=path, remedy="choose another name")
    page = build_report(contents).encode()
    write_atomically(path, lambda file: file.write(page))
    return path
