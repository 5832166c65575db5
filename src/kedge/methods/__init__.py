"""The methods that score pairs, by name. A method's module is imported when it runs, not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Protocol

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.types import Problem
from kedge.workshop import Workshop

__all__ = ["EMBEDDING", "METHODS", "Method", "prepare", "settle"]

EMBEDDING: Final = ("mgcn",)  # methods that embed each network first, part by part, with a workshop


class Method(Protocol):
    """Scores the pairs of a problem; it sees the observed anchors and nothing else."""

    def __call__(self, problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Alignment:
        """The alignment of the two networks; what it finds in the workshop it need not do again."""
        ...


def _later(place: str) -> Method:
    """The function `module:name`, imported at its first call: `kedge --help` must not wait for torch."""
    module, _, name = place.partition(":")

    def run(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Alignment:
        method: Any = getattr(import_module(f"kedge.methods.{module}"), name)
        found: Alignment = (
            method(problem, config, seed, workshop) if module in EMBEDDING else method(problem, config, seed)
        )
        return found

    return run


METHODS: Final[dict[str, Method]] = {
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


def prepare(problem: Problem, config: Config, seed: int, workshop: Workshop) -> dict[str, Any]:
    """What an embedding method does once, before it runs with more and fewer anchors: both networks' vectors go onto
    the workshop's shelf. What is known of them, by the name of its artefact: `training` and `parts`."""
    known: dict[str, Any] = import_module(f"kedge.methods.{config.method}").prepare(problem, config, seed, workshop)
    return known
