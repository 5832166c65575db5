"""Evidence with embeddings as its prior: kedge's own method, each part used only where held-back anchors gain by it.

`settle` tries on held-back anchors, in this order: the form of evidence, three times as many rounds, the embedding as a
prior. A part is taken up if the mean reciprocal rank of the held anchors rises by more than its standard error. So with
too few anchors to tell, or where nothing gains, it is the method `evidence` (docs/decisions/0009).
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import numpy as np

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.embedding import embed_network
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, ranking_scores, reciprocal_ranks
from kedge.link.evidence import Evidence
from kedge.link.prior import embedded_prior
from kedge.methods import evidence as alone
from kedge.methods.evidence import recall, scores
from kedge.types import FloatArray, Network, Problem

__all__ = ["align", "hear", "recall", "scores", "settle"]

_FOLDS = 3
_FEWEST = 10  # fewer anchors cannot tell what helps
_PATIENT = 3  # times as many rounds: a slower annealing reaches further from few anchors
_kept: dict[str, FloatArray] = {}  # vectors do not depend on anchors, so calibration's runs share them


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or nearness reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed))


def hear(problem: Problem, config: Config, seed: int) -> Evidence:
    """Evidence alone, then again with what its matches and the vectors say as a prior, if the settings want it."""
    config = settle(problem, config, seed)
    first = FORMS[config.evidence.form](problem, config.evidence)
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return first
    left, right = (_vectors(network, config, side) for side, network in enumerate((problem.left, problem.right)))
    prior = embedded_prior(problem, left, right, first, config.pairing, config.seed)
    return FORMS[config.evidence.form](problem, config.evidence, prior)


def settle(problem: Problem, config: Config, seed: int) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = alone.settle(problem, config, seed)
    if config.pairing.use != "auto":
        return config
    plain = _using(config, "no")
    if len(problem.anchors) < _FEWEST:
        return plain
    best, reached = plain, _held_ranks(problem, plain, seed)
    if reached.mean() >= config.pairing.enough:
        return plain
    options = [] if plain.evidence.form == "dense" else [_patient(plain)]
    for option in options:
        tried = _held_ranks(problem, option, seed)
        if _gains(tried, reached):
            best, reached = option, tried
    if reached.mean() >= config.pairing.enough or problem.left.n + problem.right.n > config.pairing.accounts:
        return best
    try:
        tried = _held_ranks(problem, _using(best, "yes"), seed)
    except KedgeError:
        return best  # a fit that collapsed has nothing to say
    return _using(best, "yes") if _gains(tried, reached) else best


def _using(config: Config, use: str) -> Config:
    return config.model_copy(update={"pairing": config.pairing.model_copy(update={"use": use})})


def _patient(config: Config) -> Config:
    rounds = {"rounds": _PATIENT * config.evidence.rounds}
    return config.model_copy(update={"evidence": config.evidence.model_copy(update=rounds)})


def _held_ranks(problem: Problem, config: Config, seed: int) -> FloatArray:
    """1 / rank of each anchor while it is held back, every anchor once."""
    result = np.zeros(len(problem.anchors))
    for fold in np.array_split(np.random.default_rng(seed).permutation(len(result)), _FOLDS):
        trial = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0))
        heard = hear(trial, config, seed)
        result[fold] = reciprocal_ranks(ranking_scores(heard), problem.anchors[fold])
    return result


def _gains(tried: FloatArray, reached: FloatArray) -> bool:
    """Whether the gain is larger than its standard error."""
    gain = tried - reached
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


def _vectors(network: Network, config: Config, side: int) -> FloatArray:
    """MGCN's vectors of one network; kept for the next run on the same network with the same settings."""
    settings = config.model_dump(mode="json", include={"mgcn", "hypergraph", "partition", "seed"})
    content = sha256(json.dumps([settings, side], sort_keys=True).encode())
    for array in (network.adjacency.indptr, network.adjacency.indices, network.adjacency.data):
        content.update(np.ascontiguousarray(array).tobytes())
    key = content.hexdigest()
    if key not in _kept:
        while len(_kept) >= 2:
            _kept.pop(next(iter(_kept)))
        seeds = np.random.SeedSequence(config.seed).generate_state(2)
        # No anchors: held-back ones must not reach the vectors, and runs with fewer anchors share them.
        nobody = np.empty(0, np.int64)
        name = f"the {('left', 'right')[side]} network"
        _kept[key] = embed_network(network, config, int(seeds[side]), nobody, name).vectors
    return _kept[key]
