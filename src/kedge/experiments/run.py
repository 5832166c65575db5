"""Measure many cells, in parallel, and save each as a file: what is on the disk is not computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from kedge.context import Progress
from kedge.engine.fresh import Died, Fresh
from kedge.errors import KedgeError
from kedge.experiments.cells import Cell, cell_key
from kedge.experiments.forward import Forward, measure_forward
from kedge.experiments.measure import Measured, measure_cell
from kedge.store import JSON, remove_leftovers, translate_disk_errors, write_atomically

Task: TypeAlias = Cell | Forward

CELLS: Final = "cells"


@dataclass(frozen=True)
class Execution:
    """Where finished cells are saved, how many run at the same time, and `progress(done, all, working)`, called before
    the first and after each; `working` names the methods in work."""

    directory: Path | None = None
    workers: int = 1
    progress: Callable[[int, int, Sequence[str]], None] = lambda _done, _all, _working: None


def count_cells(progress: Progress) -> Callable[[int, int, Sequence[str]], None]:
    """Shows the finished cells and the methods in work, for `Execution.progress`."""

    def show(done: int, total: int, working: Sequence[str]) -> None:
        now = f"; now {', '.join(working)}" if working else ""
        progress.advance(done, total, f"cells{now}")

    return show


def _load(path: Path) -> Measured | None:
    """A finished cell; None where there is none, or a damaged one."""
    try:
        with path.open("rb") as file:
            return Measured(**JSON.load(file)["measured"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_cells(cells: Sequence[Task], execution: Execution) -> list[Measured]:
    """The result of each cell, in their order.

    Each cell runs in a process of its own, so that its memory can be measured. Equal cells are measured once. A refusal
    is saved like a result; a cell that died (out of memory, say) is not, and is tried again the next time.
    """
    keys = [cell_key(cell) for cell in cells]
    found: dict[str, Measured] = {}
    folder = None if execution.directory is None else execution.directory / CELLS
    if folder is not None:
        with translate_disk_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_leftovers(folder)
        found = {key: held for key in set(keys) if (held := _load(folder / f"{key}.json")) is not None}
    left = {key: cell for key, cell in zip(keys, cells, strict=True) if key not in found}
    total, waiting = len(set(keys)), list(left)

    def report() -> None:
        # They are started in this order.
        working = [key for key in waiting if key not in found][: execution.workers]
        execution.progress(len(found), total, list(dict.fromkeys(_name(left[key]) for key in working)))

    report()
    for place, result in Fresh(execution.workers).run(_measure, [left[key] for key in waiting]):
        key = waiting[place]
        measured = Measured("failed", result.reason) if isinstance(result, Died) else Measured(**json.loads(result))
        found[key] = measured
        if folder is not None and measured.status != "failed":
            value = {"kind": type(left[key]).__name__, "cell": asdict(left[key]), "measured": asdict(measured)}
            write_atomically(folder / f"{key}.json", partial(JSON.dump, value))
        report()
    return [found[key] for key in keys]


def _name(task: Task) -> str:
    return task.method if isinstance(task, Cell) else "mgcn"


def _measure(task: Task) -> str:
    """As JSON: what a worker returns and what a file holds are then the same, digit for digit."""
    try:
        measured = measure_forward(task) if isinstance(task, Forward) else measure_cell(task)
        return json.dumps(asdict(measured))
    except KedgeError as error:
        return json.dumps(asdict(Measured("failed", str(error))))
