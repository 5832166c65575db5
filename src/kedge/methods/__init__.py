"""The methods that score pairs, by name. A method's module is imported when it runs, not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Protocol

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.types import Problem

__all__ = ["EVIDENCED", "METHODS", "Method", "evidenced", "settle"]


class Method(Protocol):
    """Scores the pairs of a problem; it sees the observed anchors and nothing else."""

    def __call__(self, problem: Problem, config: Config, seed: int) -> Alignment:
        """The alignment of the two networks."""
        ...


def _later(place: str) -> Method:
    """The function `module:name`, imported at its first call: `kedge --help` must not wait for torch."""
    module, _, name = place.partition(":")

    def run(problem: Problem, config: Config, seed: int) -> Alignment:
        method: Method = getattr(import_module(f"kedge.methods.{module}"), name)
        return method(problem, config, seed)

    return run


METHODS: Final[dict[str, Method]] = {
    "common-neighbours": _later("common_neighbours:align"),
    "evidence": _later("evidence:align"),
    "kedge": _later("combined:align"),
    "mgcn": _later("mgcn:align"),
}

# Methods that can say why: their modules have hear, scores, recall and settle.
EVIDENCED: Final[dict[str, str]] = {"evidence": "kedge.methods.evidence", "kedge": "kedge.methods.combined"}


def evidenced(name: str) -> Any | None:
    """The module of a method that leaves evidence of single neighbours; None where it leaves none."""
    return import_module(EVIDENCED[name]) if name in EVIDENCED else None


def settle(problem: Problem, config: Config, seed: int) -> Config:
    """What a method decides once for a problem, before it runs on it with more and fewer anchors."""
    module = evidenced(config.method)
    settled: Config = config if module is None else module.settle(problem, config, seed)
    return settled
