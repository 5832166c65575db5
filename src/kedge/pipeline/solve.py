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

from kedge.config import Config
from kedge.context import RunContext, cpu_seconds, one_blas_thread
from kedge.decide import decide
from kedge.methods import Method, find_method
from kedge.pipeline.hypergraphs import note_unused
from kedge.probability import Calibrator
from kedge.probability import calibrate as fit_calibrator
from kedge.store import (
    ANCHORS,
    CALIBRATION,
    HYPERGRAPHS,
    MATCHES,
    NETWORKS,
    PARTS,
    PRIOR,
    SCORES,
    SETTINGS,
    SUPPORT,
    TRAINING,
    Stage,
)
from kedge.types import Alignment, Matches, Problem, Support


class Run(Protocol):
    """Where stages are computed, and what methods may use meanwhile."""

    @property
    def context(self) -> RunContext:
        """Cache and progress."""
        ...

    def stage(self, stage: Stage, compute: Callable[[], Any]) -> Any:
        """The value of a stage: computed, or as an earlier run has saved it."""
        ...

    def save(self, stage: Stage, make: Callable[[], Any]) -> None:
        """Save what is needed to read the run back; a run in memory does not make it."""
        ...


@dataclass
class MemoryRun:
    """A run that saves nothing; `seconds` is the CPU time of each stage, by its id."""

    context: RunContext = field(default_factory=RunContext)
    seconds: dict[str, float] = field(default_factory=dict)

    def stage(self, stage: Stage, compute: Callable[[], Any]) -> Any:
        """Compute it."""
        self.context.progress.stage(stage.label)
        before = cpu_seconds()
        value = compute()
        self.seconds[stage.id] = cpu_seconds() - before
        return value

    def save(self, stage: Stage, make: Callable[[], Any]) -> None:
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
    resolved = run.stage(SETTINGS, lambda: method.choose_settings(problem, config, context))
    config = resolved.model_copy(update={"engine": config.engine})
    note_unused(problem, config, context.progress)
    if method.trains_vectors(config):
        known = cache(lambda: method.prepare(problem, config, context))
        run.stage(TRAINING, lambda: known()["training"])
        run.save(PARTS, lambda: known()["parts"])
    alignment = _score(problem, config, method, run)
    calibrator: Calibrator = run.stage(CALIBRATION, lambda: calibrate(problem, config, context, given))
    matches = decide(problem, alignment, calibrator, config)
    run.save(MATCHES, matches.table)
    return Outcome(problem, config, alignment, calibrator, matches)


def _save_problem(problem: Problem, run: Run) -> None:
    for stage, network in zip(NETWORKS, (problem.left, problem.right), strict=True):
        run.save(stage, partial(_same, network))
    for stage, own in zip(HYPERGRAPHS, problem.hypergraphs, strict=True):
        if own is not None:
            run.save(stage, partial(_same, own.H))
    run.save(ANCHORS, lambda: {"anchors": np.asarray(problem.anchors), "rejected": np.asarray(problem.rejected)})


def _same(value: Any) -> Any:
    return value


def _score(problem: Problem, config: Config, method: Method, run: Run) -> Alignment:
    """The method's alignment, and what explains its pairs later, where it leaves anything of the kind."""
    # Computed once; after a kill between two of these stages, once more.
    aligned = cache(lambda: method.align(problem, config, run.context))
    alignment: Alignment = run.stage(SCORES, aligned)
    if method.explains:
        run.save(SUPPORT, lambda: _support(aligned()).beliefs)
        if config.pairing.use == "yes":
            run.save(PRIOR, lambda: _prior(_support(aligned())))
    return alignment


def _support(alignment: Alignment) -> Support:
    if alignment.support is None:
        raise TypeError("a method that explains pairs returned no support")
    return alignment.support


def _prior(support: Support) -> csr_array:
    return csr_array(support.beliefs.shape) if support.prior is None else support.prior


def calibrate(
    problem: Problem, config: Config, context: RunContext | None = None, given: int | None = None
) -> Calibrator:
    """Fit probabilities to scores on validation anchors, drawn from the first `given` anchors."""
    method, context = find_method(config.method), context or RunContext()
    return fit_calibrator(
        problem,
        lambda fewer: method.align(fewer, config, context),
        config,
        given,
        # Reach is kedge's own: methods of others are judged by their scores and nothing else.
        hops=config.decide.hops if method.explains else 0,
    )
