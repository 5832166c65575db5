"""The methods that score pairs, by name. A method's module is imported when it runs, not before."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Final, Protocol

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.types import Problem

__all__ = ["METHODS", "Later", "Method", "settle"]


class Method(Protocol):
    """Scores the pairs of a problem; it sees the observed anchors and nothing else."""

    def __call__(self, problem: Problem, config: Config, seed: int) -> Alignment:
        """The alignment of the two networks."""
        ...


@dataclass(frozen=True)
class Later:
    """The function `module:name`, imported at its first call: `kedge --help` must not wait for torch."""

    place: str

    @property
    def module(self) -> str:
        """The full name of its module."""
        return f"kedge.methods.{self.place.partition(':')[0]}"

    def __call__(self, problem: Problem, config: Config, seed: int) -> Alignment:
        """The alignment of the two networks."""
        method: Method = getattr(import_module(self.module), self.place.partition(":")[2])
        return method(problem, config, seed)


_later = Later


METHODS: Final[dict[str, Later]] = {
    "common-neighbours": _later("common_neighbours:align"),
    "evidence": _later("evidence:align"),
    "mgcn": _later("mgcn:align"),
}


def settle(problem: Problem, config: Config, seed: int) -> Config:
    """What a method decides once for a problem, before it runs on it with more and fewer anchors."""
    if config.method != "evidence":
        return config
    settled: Config = import_module("kedge.methods.evidence").settle(problem, config, seed)
    return settled
