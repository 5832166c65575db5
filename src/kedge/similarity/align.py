"""Phase 2 and the pair network of every embedding method, in one place so that comparisons are fair.

Vectors of two networks become an alignment in three steps: the right ones are projected into the space of the left
ones by the anchors (Eq. 11, solved in closed form instead of trained, or a method's own map); vector similarity and a
pair network (section 2.6) are fitted on validation anchors, which the map was not fitted on; the nearest accounts
become candidates, ordered by `pairing.score`: by their cosines, or by the log-odds of a model, if further validation
anchors gain by it. Ordered by the network, in the paper's form, they are the likeliest of all pairs instead. The
network stays in the alignment: it gives the log-odds of any pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from kedge.config import PairingConfig
from kedge.linalg import VectorAlignment, gains, rank_in_rows, unit_rows
from kedge.similarity.candidates import free_candidates
from kedge.similarity.likelihood import ValidationFold, fit_similarity, local_scales
from kedge.types import FloatArray, IntArray, KedgeError, Problem, as_pairs

RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # validation anchors choose among them
_FEWEST = 10  # with fewer anchors none are split off for validation, and the ridge is 1; unmeasured
_FEWEST_VALIDATION = 10  # fewer cannot separate two orders; unmeasured
FOLDS = 5  # as many as usual; unmeasured
_MOST_PAIRS = 2_000  # of all folds together: more do not change what is learnt; unmeasured


@dataclass(frozen=True)
class Projection:
    """γ(x) = x Γ + b of Eq. 11, with Γ [d_2, d_1] and b [d_1]."""

    Gamma: FloatArray
    bias: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Vectors of the second network in the first one's space."""
        return np.asarray(X @ self.Gamma + self.bias)


def project(X1: FloatArray, X2: FloatArray, anchors: IntArray, ridge: float = 1.0) -> Projection:
    """argmin_{Γ,b} Σ_(v,u) |X1[v] - γ(X2[u])|² + ridge |Γ|² (Eq. 11), in closed form.

    b is free of the ridge, so both sides are centred first. The dual form is solved where anchors are fewer than
    dimensions.
    """
    pairs = as_pairs(anchors)
    if len(pairs) == 0:
        raise KedgeError("no anchors to project by", remedy="give at least one known pair")
    if ridge <= 0:
        raise KedgeError(f"ridge = {ridge} is not above 0")
    target = X1[pairs[:, 0]].astype(np.float64)
    source = X2[pairs[:, 1]].astype(np.float64)
    middle_1, middle_2 = target.mean(axis=0), source.mean(axis=0)
    Y, X = target - middle_1, source - middle_2
    if len(pairs) < X.shape[1]:
        Gamma = X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X)), Y)
    else:
        Gamma = np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y)
    return Projection(Gamma.astype(np.float32), (middle_1 - middle_2 @ Gamma).astype(np.float32))


def project_onto(X1: FloatArray, X2: FloatArray, anchors: IntArray, ridge: float) -> FloatArray:
    """X2 in the space of X1 (Eq. 11); an account whose vector is 0 stays at 0 instead of moving to the bias."""
    moved = project(X1, X2, anchors, ridge)(X2)
    moved[~X2.any(axis=1)] = 0.0
    return moved


def choose_ridge(X1: FloatArray, X2: FloatArray, anchors: IntArray, rng: np.random.Generator) -> float:
    """The ridge of `RIDGES` whose projection best ranks the partners of a fifth of the anchors, fitted on the others.

    The mean reciprocal rank among the partners of these validation anchors, by cosine; ties take the stronger ridge.
    """
    pairs = as_pairs(anchors)
    if len(pairs) < _FEWEST:
        return 1.0
    order = rng.permutation(len(pairs))
    validation, known = pairs[order[: len(pairs) // 5]], pairs[order[len(pairs) // 5 :]]
    right = unit_rows(X1[validation[:, 0]].astype(np.float32))
    best = (-1.0, 1.0)
    for ridge in RIDGES:
        moved = unit_rows(project(X1, X2, known, ridge)(X2[validation[:, 1]]).astype(np.float32))
        scores = moved @ right.T
        best = max(best, (float((1 / rank_in_rows(scores, np.diag(scores))).mean()), ridge))
    return best[1]


def project_by(left: FloatArray, right: FloatArray, known: IntArray, seed: int) -> tuple[VectorAlignment, float]:
    """Both vectors in the left ones' space (Eq. 11), without candidates or a pair network, and the ridge chosen."""
    ridge = choose_ridge(left, right, known, np.random.default_rng(seed))
    return VectorAlignment(left, project_onto(left, right, known, ridge)), ridge


def project_folds(
    left: FloatArray, right: FloatArray, known: IntArray, ridge: float, rng: np.random.Generator
) -> Iterator[ValidationFold]:
    """Each fold of the known pairs in the space that the other folds align (Eq. 11), one after the other."""
    X = unit_rows(left)
    for fold in np.array_split(rng.permutation(len(known)), FOLDS):
        Y = unit_rows(project_onto(left, right, np.delete(known, fold, axis=0), ridge))
        yield ValidationFold(X, Y, known[fold[: _MOST_PAIRS // FOLDS]])


LogOdds: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], FloatArray]  # (X, Y, pairs of rows [m, 2]) -> [m]


def rerank(problem: Problem, vectors: VectorAlignment, pairs: IntArray, log_odds: LogOdds | None) -> csr_array:
    """A `VectorAlignment`'s head: the candidates `pairs`, and the anchors on top.

    Candidates are ordered by the log-odds, or by cosine where there is no model; all of them are above 1.
    """
    score = vectors.cosine(pairs) if log_odds is None else log_odds(vectors.left, vectors.right, pairs)
    score = 2.0 + score - score.min(initial=np.inf) if len(score) else score
    top = np.full(len(problem.anchors), score.max(initial=1.0) + 1.0, np.float32)
    rows, columns = np.concatenate([pairs, problem.anchors]).T
    return csr_array((np.concatenate([score, top]), (rows, columns)), shape=(problem.left.n, problem.right.n))


def choose_order(trial: ValidationFold, anchors: IntArray, models: Iterable[LogOdds], nearest: int) -> LogOdds | None:
    """The model that ranks the trial's pairs highest among their candidates; None: the order of the cosines.

    A later model replaces an earlier one where the mean reciprocal rank rises by more than its standard error.
    """
    if len(trial.pairs) < _FEWEST_VALIDATION:
        return None
    best, reached = None, _reciprocal_ranks(trial, anchors, None, nearest)
    for model in models:
        tried = _reciprocal_ranks(trial, anchors, model, nearest)
        if gains(tried, reached):
            best, reached = model, tried
    return best


def _reciprocal_ranks(trial: ValidationFold, anchors: IntArray, log_odds: LogOdds | None, nearest: int) -> FloatArray:
    """1 / rank of each of the trial's pairs among free candidates, a mean over both sides; 0 where it is none."""
    ranked = np.zeros(len(trial.pairs))
    for side in (0, 1):
        mine, other = (trial.left, trial.right) if side == 0 else (trial.right, trial.left)
        taken = np.setdiff1d(anchors[:, 1 - side], trial.pairs[:, 1 - side])
        free = np.setdiff1d(np.arange(len(other)), taken)
        accounts, partner = trial.pairs[:, side], np.searchsorted(free, trial.pairs[:, 1 - side])
        best, score = VectorAlignment(mine[accounts], other[free]).top(
            np.arange(len(accounts)), min(nearest, len(free))
        )
        if log_odds is not None:
            pairs = np.column_stack([np.repeat(accounts, best.shape[1]), free[best].ravel()])
            score = log_odds(trial.left, trial.right, pairs if side == 0 else pairs[:, ::-1]).reshape(best.shape)
        true = best == partner[:, None]
        rank = rank_in_rows(score, np.where(true, score, -np.inf).max(axis=1))
        ranked += np.where(true.any(axis=1), 0.5 / rank, 0.0)
    return ranked


def align_vectors(
    problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """The right vectors [n_2, d_2] projected into the left ones' space [n_1, d_1] (Eq. 11), then the pair network.

    The ridge is chosen on validation anchors, which `seed` draws.
    """
    projected, ridge = project_by(left, right, problem.anchors, seed)

    def folds() -> Iterator[ValidationFold]:
        if len(problem.anchors) < FOLDS:
            return iter(())
        return project_folds(left, right, problem.anchors, ridge, np.random.default_rng(seed))

    return _ranked(problem, projected, config, folds, seed)


def align_mapped(
    problem: Problem, vectors: VectorAlignment, validation: IntArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """Vectors that a method's own map has brought into one space, then the pair network.

    It learns from the `validation` anchors, on which the map was not trained.
    """
    halves = np.array_split(validation, 2) if len(validation) > 1 else []

    def folds() -> Iterator[ValidationFold]:
        return (ValidationFold(vectors.left, vectors.right, half) for half in halves)

    return _ranked(problem, vectors, config, folds, seed)


def align_shared(problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig) -> VectorAlignment:
    """Vectors that were learnt in one space, by cosine: there is no anchor that a pair network could learn from.

    The ends of an anchor share their vector, or (`regal`) a method uses no anchors at all.
    """
    return _ranked(problem, VectorAlignment(left, right), config, lambda: iter(()), 0)


def _ranked(
    problem: Problem,
    vectors: VectorAlignment,
    config: PairingConfig,
    folds: Callable[[], Iterator[ValidationFold]],
    seed: int,
) -> VectorAlignment:
    """The alignment with its candidates in the order that the settings give, or that validation anchors choose."""
    near = free_candidates(problem, vectors, config.nearest)
    trial = next(folds(), None)
    if config.score == "cosine" or trial is None:
        return replace(vectors, head=rerank(problem, vectors, near.pairs, None), ordered_by="cosine")
    models: dict[str, LogOdds] = {}
    if config.score != "network":
        # The first fold chooses the order, so neither model is fitted on it.
        others, scales = islice(folds(), 1, None), local_scales(near.cosines)
        similarity = fit_similarity(others, problem.anchors, scales, np.random.default_rng(seed))
        if similarity is not None:
            models["similarity"] = similarity.log_odds
    from kedge.similarity.pair_network import likeliest_pairs, train_pair_network

    network = train_pair_network(folds(), config, seed)
    if network.trained:
        models["network"] = network.log_odds
    if config.score == "auto":
        chosen = choose_order(trial, problem.anchors, models.values(), config.nearest)
    else:
        chosen = models.get(config.score)
    pairs = near.pairs
    if config.score == "network" and network.trained:
        likely = likeliest_pairs(problem, vectors, network, config.nearest)
        pairs = pairs if likely is None else likely
    head = rerank(problem, vectors, pairs, chosen)
    name = next((name for name, model in models.items() if model is chosen), "cosine")
    return replace(vectors, head=head, network=network if network.trained else None, ordered_by=name)
