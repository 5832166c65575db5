"""Measure many cells, in parallel, and keep each as a file: what is on the disk is never computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

from kedge.engine.fresh import Died, Fresh
from kedge.errors import KedgeError
from kedge.experiments.cells import Cell, cell_key
from kedge.experiments.forward import Forward, measure_forward
from kedge.experiments.measure import Measured, measure_cell
from kedge.store import JSON, write_atomically
from kedge.store.atomic import TEMPORARY, translate_disk_errors

__all__ = ["CELLS", "run_cells"]

Task: TypeAlias = Cell | Forward

CELLS: Final = "cells"


def _load(path: Path) -> Measured | None:
    """A finished cell; None where there is none, or a damaged one."""
    try:
        held = JSON.load(path)
        return Measured(**held["measured"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(path: Path, task: Task, measured: Measured) -> None:
    value: dict[str, Any] = {"kind": type(task).__name__, "cell": asdict(task), "measured": measured.plain()}
    write_atomically(path, lambda file: JSON.dump(value, file))


def run_cells(
    cells: Sequence[Task],
    directory: Path | None,
    workers: int = 1,
    tell: Callable[[int, int], None] | None = None,
) -> list[Measured]:
    """What came of each cell, in their order; `tell(done, all)` after each.

    Every cell runs in a process of its own, so that its memory is its own. Equal cells are measured once. What a method
    refuses is kept like a result; what died (out of memory, say) is not, and is tried again the next time.
    """
    keys = [cell_key(cell) for cell in cells]
    found: dict[str, Measured] = {}
    folder = None if directory is None else directory / CELLS
    if folder is not None:
        with translate_disk_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in folder.glob(f"{TEMPORARY}*"):
            leftover.unlink(missing_ok=True)
        found = {key: held for key in set(keys) if (held := _load(folder / f"{key}.json")) is not None}
    left = {key: cell for key, cell in zip(keys, cells, strict=True) if key not in found}
    total, waiting = len(set(keys)), list(left)
    if tell is not None:
        tell(total - len(waiting), total)
    for place, result in Fresh(workers).run(_measure, [left[key] for key in waiting]):
        key = waiting[place]
        measured = Measured("failed", result.reason) if isinstance(result, Died) else Measured(**json.loads(result))
        found[key] = measured
        if folder is not None and measured.status != "failed":
            _keep(folder / f"{key}.json", left[key], measured)
        if tell is not None:
            tell(len(found), total)
    return [found[key] for key in keys]


def _measure(task: Task) -> str:
    """As text: a worker's answer and a file's content are the same thing then, digit for digit."""
    try:
        measured = measure_forward(task) if isinstance(task, Forward) else measure_cell(task)
        return json.dumps(measured.plain())
    except KedgeError as error:
        return json.dumps(Measured("failed", str(error)).plain())
