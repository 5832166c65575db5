"""Builders chosen by what a trial of each is worth: `hypergraph.builders = auto`.

First every candidate alone: the best takes the place of the first, the default, if it is better by a least gain. Then
each other one joins if the figure gains as much by it, in the order of their own figures. The number of trials is
bounded, so the rest of the candidates may not be tried: the table of the choice has those that were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kedge.types import KedgeError


@dataclass(frozen=True)
class BuilderChoice:
    """The builders chosen, what they were judged by and on, and each trial: builders, figure (None: refused), note."""

    builders: str
    judged_by: str
    judged_on: str
    trials: tuple[tuple[str, float | None, str], ...]

    def facts(self) -> dict[str, Any]:
        """As manifests, model cards and `--json` have it."""
        tried = [{"builders": one, "figure": figure, "note": note} for one, figure, note in self.trials]
        return {"chosen": self.builders, "by": self.judged_by, "on": self.judged_on, "trials": tried}

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> BuilderChoice:
        """The reverse."""
        trials = tuple((one["builders"], one["figure"], one["note"]) for one in facts["trials"])
        return BuilderChoice(facts["chosen"], facts["by"], facts["on"], trials)

    def describe(self) -> str:
        """In one line: what was chosen, and the figure of every trial."""
        tried = ", ".join(
            f"{one} refused ({note})" if figure is None else f"{one} {figure:.4f}" for one, figure, note in self.trials
        )
        return f"hyperedges of {self.builders}, chosen by {self.judged_by} on {self.judged_on}; tried: {tried}"


def choose_builders(
    candidates: Sequence[str],
    judge: Callable[[str], float],
    most: int,
    least_gain: float,
    judged: tuple[str, str],
    base: Sequence[str] = (),
) -> BuilderChoice:
    """The first of `candidates`, or the best if it is better by `least_gain`, and those that add as much to it.

    The higher a figure of `judge`, the better. At most `most` trials. With a `base`, it is tried first, and candidates
    join it. A candidate that raises KedgeError is refused, and the line is its note.
    """
    trials: dict[str, tuple[float | None, str]] = {}

    def figure(parts: Sequence[str]) -> float:
        builders = "+".join(parts)
        if builders not in trials:
            try:
                trials[builders] = (judge(builders), "")
            except KedgeError as error:
                trials[builders] = (None, str(error))
        found = trials[builders][0]
        return -math.inf if found is None else found

    chosen, reached = [*base], figure(base) if base else -math.inf
    alone = {name: figure([*base, name]) for name in candidates[: most - len(trials)]}
    if not base:
        first = next((name for name in alone if alone[name] > -math.inf), None)
        best = max(alone, key=lambda one: alone[one])
        if first is not None:
            chosen = [best if alone[best] >= alone[first] + least_gain else first]
            reached = alone[chosen[0]]
    for name in sorted(set(alone) - set(chosen), key=lambda one: (-alone[one], candidates.index(one))):
        parts = [*chosen, name]
        if alone[name] == -math.inf or (len(trials) >= most and "+".join(parts) not in trials):
            continue
        if (found := figure(parts)) >= reached + least_gain:
            chosen, reached = parts, found
    if not chosen:
        raise KedgeError(f"no hypergraph can be drawn: {trials[candidates[0]][1]}", remedy="name hypergraph.builders")
    return BuilderChoice("+".join(chosen), *judged, tuple((one, *found) for one, found in trials.items()))
