"""The state of a training that is not finished, so that a kill loses minutes and not the part.

What is restored gives the same bytes as a training that was never interrupted: parameters, Adam's means, the states of
both random generators, the losses, the checks on held-out edges and the best vectors so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from kedge.context import CacheEntry
from kedge.mgcn.adam import Adam
from kedge.mgcn.gates import NO_SHIFTS, Shifts
from kedge.types import FloatArray

Best = tuple[float, int, FloatArray, tuple[float, float] | None]  # AUC, step, vectors and gates


class Checkpoint(Protocol):
    """Where states are saved; `name` is that of a phase of the training."""

    def load(self, name: str) -> CacheEntry | None:
        """The state that was saved last; None where there is none, or it is damaged."""
        ...

    def save(self, name: str, make: Callable[[], CacheEntry]) -> None:
        """Save a state, if enough time has passed since the last one."""
        ...


@dataclass
class Course:
    """How far a training is: losses of its steps, checks, best vectors, whether it has ended, the gates' shifts
    now and at the best vectors, and the vectors that hyperedges were drawn from last."""

    losses: list[float] = field(default_factory=list)
    checks: list[tuple[int, float]] = field(default_factory=list)
    best: Best | None = None
    ended: bool = False
    shifts: Shifts = NO_SHIFTS
    best_shifts: Shifts = NO_SHIFTS
    drawn_from: FloatArray | None = None


def pack(course: Course, optimiser: Adam, generators: Sequence[torch.Generator]) -> CacheEntry:
    """The state as named arrays and facts."""
    arrays = {f"{kind}{i}": tensor.detach().cpu().numpy() for kind, i, tensor in _tensors(optimiser)}
    arrays |= {f"generator{i}": generator.get_state().numpy() for i, generator in enumerate(generators)}
    arrays["losses"] = np.array(course.losses, np.float64)
    arrays["checks"] = np.array(course.checks, np.float64).reshape(-1, 2)
    facts: dict[str, object] = {"taken": optimiser.taken, "ended": course.ended, "best": None}
    facts |= {"shifts": list(course.shifts), "best_shifts": list(course.best_shifts)}
    if course.best is not None:
        auc, step, arrays["best"], gates = course.best
        facts["best"] = [auc, step, gates]
    if course.drawn_from is not None:
        arrays["drawn_from"] = course.drawn_from
    return CacheEntry(arrays, facts)


def unpack(entry: CacheEntry, optimiser: Adam, generators: Sequence[torch.Generator]) -> Course:
    """The course of a saved state, with which parameters, Adam and generators go on."""
    held, facts = entry.arrays, entry.facts
    with torch.no_grad():
        for kind, i, tensor in _tensors(optimiser):
            tensor.copy_(torch.from_numpy(np.array(held[f"{kind}{i}"])).view(tensor.shape))  # a file has no scalars
    optimiser.taken = facts["taken"]
    for i, generator in enumerate(generators):
        generator.set_state(torch.from_numpy(np.array(held[f"generator{i}"])))
    best: Best | None = None
    if facts["best"] is not None:
        auc, step, gates = facts["best"]
        best = (auc, step, np.array(held["best"]), None if gates is None else (gates[0], gates[1]))
    checks = [(int(step), float(auc)) for step, auc in held["checks"]]
    now, best_shifts = ((facts[name][0], facts[name][1]) for name in ("shifts", "best_shifts"))
    return Course(held["losses"].tolist(), checks, best, facts["ended"], now, best_shifts, held.get("drawn_from"))


def _tensors(optimiser: Adam) -> list[tuple[str, int, torch.Tensor]]:
    kinds = {"parameter": optimiser.parameters, "mean": optimiser.means, "square": optimiser.squares}
    return [(kind, i, tensor) for kind, tensors in kinds.items() for i, tensor in enumerate(tensors)]
