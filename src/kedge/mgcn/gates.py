"""How much of each level is passed on when vectors are read, chosen by held-out edges.

Training drops a share of the edges from both levels, vectors are read with all of them: gates that suit the thinner
network pass on too much of the whole one. So each check on held-out edges tries a little more and a little less of each
level than the check before it, and the best goes on: a line search that moves while the model is trained. Training
itself has the gates as they were learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import torch

from kedge.config import MgcnConfig
from kedge.mgcn.model import Mgcn
from kedge.types import FloatArray

Shifts = tuple[float, float]
NO_SHIFTS: Final[Shifts] = (0.0, 0.0)
_STEP: Final = 0.5  # of a gate's logit: 0.5 becomes 0.38 or 0.62; unmeasured
_FARTHEST: Final = 8.0  # a gate that is shut or open for all purposes


@dataclass(frozen=True)
class Reading:
    """Vectors [n, d] read with shifted gates, their AUC on held-out edges, and the share that each level passes on."""

    auc: float
    vectors: FloatArray
    shifts: Shifts
    gates: tuple[float, float] | None


def read_tuned(
    model: Mgcn, read: Callable[[], FloatArray], judge: Callable[[FloatArray], float], last: Shifts, tune: bool = True
) -> Reading:
    """The best of the shifts of the last check and, to `tune`, of those a step away; the model is left as it was."""
    levels = _levels(model) if tune else ()
    options = [last, *(_moved(last, level, step) for level in levels for step in (-_STEP, _STEP))]
    found = []
    for shifts in options:
        vectors, gates = read_shifted(model, read, shifts)
        found.append(Reading(judge(vectors), vectors, shifts, gates))
    return max(found, key=lambda one: one.auc)


def read_shifted(
    model: Mgcn, read: Callable[[], FloatArray], shifts: Shifts
) -> tuple[FloatArray, tuple[float, float] | None]:
    """Vectors read with shifted gates, and what those pass on."""
    learned = model.gates.detach().clone()
    with torch.no_grad():
        model.gates[:, 0] += torch.tensor(shifts, device=learned.device)
        vectors, gates = read(), passed_on(model)
        model.gates.copy_(learned)
    return vectors, gates


def passed_on(model: Mgcn) -> tuple[float, float] | None:
    """The share of each level's output that is passed on, a mean over accounts; None where it is not learned."""
    if not model.gates.requires_grad:
        return None
    return model.open(0).mean().item(), model.open(1).mean().item()


def _levels(model: Mgcn) -> tuple[int, ...]:
    """The levels whose gates may be shifted: 0 is the simple one, 1 the hypergraph's."""
    mgcn: MgcnConfig = model.config
    if not (model.gates.requires_grad and mgcn.tune_gates):
        return ()
    return {"both": (0, 1), "simple": (0,), "hypergraph": (1,)}[mgcn.levels]


def _moved(shifts: Shifts, level: int, step: float) -> Shifts:
    moved = list(shifts)
    moved[level] = min(max(moved[level] + step, -_FARTHEST), _FARTHEST)
    return moved[0], moved[1]
