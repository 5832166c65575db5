"""How much profiles count beside structure: chosen on validation anchors, structure alone among the choices."""

from __future__ import annotations

from typing import Final

import numpy as np

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence.forms import FORMS
from kedge.evidence.model import Evidence
from kedge.evidence.profile_prior import profile_prior
from kedge.linalg import entries_at, gains
from kedge.profiles import compare
from kedge.types import FloatArray, IntArray, Problem

# What validation anchors choose from: twice as much as estimated, as estimated, half of it, structure alone
# (docs/decisions/0055).
_WEIGHTS: Final = (2.0, 1.0, 0.5, 0.0)
_FOLDS: Final = 3  # thirds are large enough to judge by, and leave enough; unmeasured
_HELD: Final = 600  # of each fold at most: more at once leave trials with many fewer anchors (docs/decisions/0022)
_LARGE: Final = 20_000  # accounts of both networks beyond which one fold is tried; unmeasured
_CLEARLY: Final = 2.0  # standard errors of a gain; unmeasured
_FEW: Final = 20  # validation anchors below which no trial ends early, and none counts profiles twice (0055)
_FEWEST: Final = 6  # anchors below which profiles count as estimated; unmeasured


def choose_profile_weight(problem: Problem, config: Config, context: RunContext) -> Config:
    """The configuration with what profiles count beside structure, by validation anchors if that is left open.

    The weight with the largest likelihood of validation anchors, 0 among them; at most 1 where there are few, and 1
    where there are too few to ask. No further fold is tried once one weight is clearly ahead of all others; large
    networks try one.
    """
    if problem.profiles is None or config.profiles.weight is not None:
        return config
    if compare(*problem.profiles, config.profiles) is None:
        return _with_weight(config, 0.0)
    if len(problem.anchors) < _FEWEST:
        return _with_weight(config, 1.0)
    tried = _WEIGHTS if len(problem.anchors) >= _FEW else _WEIGHTS[1:]
    weights = [_with_weight(config, weight) for weight in tried]
    large = problem.left.n + problem.right.n > _LARGE
    likelihood: FloatArray = np.zeros((len(weights), 0))
    for trial, held in problem.folds(_FOLDS, config.seed, _FOLDS * _HELD):
        found = [FORMS[one.evidence.form](trial, one.evidence, profiles=profile_prior(trial, one)) for one in weights]
        likelihood = np.hstack([likelihood, [_log_likelihood(evidence, held) for evidence in found]])
        best = int(likelihood.mean(axis=1).argmax())
        clear = [gains(likelihood[best], other, _CLEARLY) for other in np.delete(likelihood, best, axis=0)]
        if large or (likelihood.shape[1] >= _FEW and all(clear)):
            break
    means = likelihood.mean(axis=1)
    best = int(means.argmax())
    with_profiles = "profiles count nothing beside structure" if tried[best] == 0 else "profiles count"
    context.progress.note(
        f"{with_profiles}: validation anchors have a log-likelihood of {means[-1]:.2f} by structure alone, of "
        f"{means[:-1].max():.2f} with profiles (weight {tried[best]:g})"
    )
    return weights[best]


def _with_weight(config: Config, weight: float) -> Config:
    return config.model_copy(update={"profiles": config.profiles.model_copy(update={"weight": weight})})


def _log_likelihood(evidence: Evidence, held: IntArray) -> FloatArray:
    """The log of the belief in each held anchor, [m]; that of a random guess at least."""
    least = 1 / max(evidence.beliefs.shape)
    return np.log(np.maximum(entries_at(evidence.beliefs, held), least))
