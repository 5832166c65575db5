"""The one way from a problem to decisions: `kedge.match`, `kedge match` and every experiment use it.

    choose settings -> embed the networks -> score pairs -> calibrate on validation anchors -> decide

A stage is computed by a run: `MemoryRun` saves nothing, `store.Run` saves every stage and resumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from kedge import store
from kedge.config import Config
from kedge.context import Progress, RunContext, cpu_seconds, one_blas_thread
from kedge.decide import decide
from kedge.methods import Method, find_method
from kedge.probability import Calibrator, calibrate
from kedge.types import Alignment, Matches, Problem, Support


class Run(Protocol):
    """Where stages are computed, and what methods may use meanwhile."""

    @property
    def context(self) -> RunContext:
        """Cache and progress."""
        ...

    def stage(self, stage: store.Stage, compute: Callable[[], Any]) -> Any:
        """The value of a stage: computed, or as an earlier run has saved it."""
        ...

    def save(self, stage: store.Stage, make: Callable[[], Any]) -> None:
        """Save what is needed to read the run back; a run in memory does not make it."""
        ...


@dataclass
class MemoryRun:
    """A run that saves nothing; `seconds` is the CPU time of each stage, by its id."""

    context: RunContext = field(default_factory=RunContext)
    seconds: dict[str, float] = field(default_factory=dict)

    def stage(self, stage: store.Stage, compute: Callable[[], Any]) -> Any:
        """Compute it."""
        self.context.progress.stage(stage.label)
        before = cpu_seconds()
        value = compute()
        self.seconds[stage.id] = cpu_seconds() - before
        return value

    def save(self, stage: store.Stage, make: Callable[[], Any]) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Outcome:
    """The result of matching; `config` is the resolved configuration."""

    problem: Problem
    config: Config
    alignment: Alignment
    calibrator: Calibrator
    matches: Matches


@one_blas_thread()
def solve(problem: Problem, config: Config, run: Run, given: int | None = None) -> Outcome:
    """Match two networks. The first `given` anchors are the user's own: only they are used for calibration."""
    method, context = find_method(config.method), run.context
    _save_problem(problem, run)
    resolved = run.stage(store.SETTINGS, lambda: method.choose_settings(problem, config, context))
    config = resolved.model_copy(update={"engine": config.engine})
    _note_unused(problem, config, method, context.progress)
    if method.trains_vectors(config):
        known = cache(lambda: method.prepare(problem, config, context))
        run.stage(store.TRAINING, lambda: known()["training"])
        run.save(store.PARTS, lambda: known()["parts"])
    alignment = _score(problem, config, method, run)

    def fit() -> Calibrator:
        # Reach is kedge's own: methods of others are judged by their scores and nothing else.
        hops = config.decide.hops if method.explains else 0
        return calibrate(problem, lambda fewer: method.align(fewer, config, context), config, given, hops=hops)

    calibrator: Calibrator = run.stage(store.CALIBRATION, fit)
    matches = decide(problem, alignment, calibrator, config)
    run.save(store.MATCHES, matches.table)
    return Outcome(problem, config, alignment, calibrator, matches)


def _save_problem(problem: Problem, run: Run) -> None:
    for stage, network in zip(store.NETWORKS, (problem.left, problem.right), strict=True):
        run.save(stage, partial(_same, network))
    for stage, own in zip(store.HYPERGRAPHS, problem.hypergraphs, strict=True):
        if own is not None:
            run.save(stage, partial(_same, own.H))
    run.save(store.ANCHORS, lambda: {"anchors": np.asarray(problem.anchors), "rejected": np.asarray(problem.rejected)})


def _same(value: Any) -> Any:
    return value


def _note_unused(problem: Problem, config: Config, method: Method, progress: Progress) -> None:
    """A note where the chosen settings train no vectors, and so make no use of hyperedges that the user gave."""
    given = any(own is not None for own in problem.hypergraphs)
    if given and method.trains and not method.trains_vectors(config):
        progress.note("the hypergraph is not used: --set pairing.use=yes --set pairing.vectors=mgcn makes use of it")


def _score(problem: Problem, config: Config, method: Method, run: Run) -> Alignment:
    """The method's alignment, and what explains its pairs later, where it leaves anything of the kind."""
    # Computed once; after a kill between two of these stages, once more.
    aligned = cache(lambda: method.align(problem, config, run.context))
    alignment: Alignment = run.stage(store.SCORES, aligned)
    if method.explains:
        run.save(store.SUPPORT, lambda: _support(aligned()).beliefs)
        if config.pairing.use == "yes":
            run.save(store.PRIOR, lambda: _prior(_support(aligned())))
    return alignment


def _support(alignment: Alignment) -> Support:
    if alignment.support is None:
        raise TypeError("a method that explains pairs returned no support")
    return alignment.support


def _prior(support: Support) -> csr_array:
    return csr_array(support.beliefs.shape) if support.prior is None else support.prior
