"""Every place of a run directory that still has an id: raw bytes, and what the files hold when they are decoded."""

from __future__ import annotations

import html
import json
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq


def places_of(run: Path, name: str) -> list[str]:
    forms = {name.encode(), json.dumps(name)[1:-1].encode(), html.escape(name).encode(), name.encode("utf-16-le")}
    found = []
    for path in sorted(path for path in run.rglob("*") if path.is_file()):
        contents = [path.read_bytes(), *_decoded(path)]
        if any(form in content for form in forms for content in contents):
            found.append(str(path.relative_to(run)))
    return found


def _decoded(path: Path) -> list[bytes]:
    if path.suffix == ".parquet":
        return [str(pq.read_table(path).to_pydict()).encode()]
    if path.suffix == ".npz":
        with np.load(path) as held:
            return [held[part].tobytes() for part in held.files]
    if path.suffix == ".sqlite":
        db = sqlite3.connect(path)
        dumped = "\n".join(db.iterdump())
        db.close()
        return [dumped.encode()]
    return []
