"""How kedge's own method uses embeddings: vector similarity as a prior of evidence, and the settings for it.

Few anchors align two spaces badly (Eq. 11), so the matches that evidence is certain of join them, and the prior is
refined while that makes more matches certain. The likelihood ratio of similarity is learnt from pairs that were held
out of the projection (similarity/likelihood.py). Only evidence for a pair is a prior: for accounts that are not similar
it is 0, not negative.

Settings are chosen once for a problem before it runs. Vector similarity is a prior of evidence wherever that can be
afforded: it hardly ever loses, and a trial on validation anchors cost more than its use (docs/decisions/0025). The
dense form of evidence has none: it scores every pair and needs no candidates. One thing is tried: where the networks
have few edges in common, beliefs that depend on other beliefs mislead, so the signals of a candidate are weighed anew
if validation anchors gain by it (docs/decisions/0020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config, PairingConfig
from kedge.context import Progress, RunContext
from kedge.embedding.coordinates import place_both, prepare_levels, without_weights
from kedge.embedding.sketch import vectors_of
from kedge.evidence.blocks import Where
from kedge.evidence.forms import FORMS, choose
from kedge.evidence.model import Evidence, common_edges
from kedge.evidence.profile_prior import ProfilePrior, profile_prior
from kedge.evidence.profile_weight import choose_profile_weight
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import Choices, fit_mixture, known_of, mix, ranking_scores, weighed_scores
from kedge.evidence.shared_prior import shared_prior
from kedge.linalg import VectorAlignment, entries_at, gains, reciprocal_ranks, row_index
from kedge.similarity import FOLDS, each_once, fit_similarity, free_candidates, local_scales, project_by, project_folds
from kedge.types import FloatArray, IntArray, KedgeError, Network, Problem

_EXACT_UP_TO = 20_000  # accounts per network: a prior can miss a pair (docs/decisions/0021)
_GROWTH = 1.1  # of the certain matches, from which another refinement pays; unmeasured
_PLENTY = 200  # with as many anchors the spaces are aligned well at once (docs/decisions/0020)
_SMALL = 20_000  # accounts of both networks up to which a refinement takes seconds, and training minutes
_LARGE = 3  # refinements of larger ones: later ones move next to nothing (docs/decisions/0021)
_EDGES = 10  # for each account that may be embedded: they cost as much (docs/decisions/0021)
_COMMON = 0.5  # of one network's edges: with more in the other one, evidence does not mislead (docs/decisions/0025)
_LEAST_EDGES = 30  # edges among the anchors of either network that such a share is estimated from; unmeasured
_FOLDS = 3  # thirds are large enough to judge by, and leave enough; unmeasured
_CLEARLY = 2.0  # standard errors of a gain (docs/decisions/0021)
_WORTH = 0.01  # in mean reciprocal rank: less is not worth another search, however sure (docs/decisions/0021)
_HELD = 600  # more at once leave trials with many fewer anchors than the run (docs/decisions/0022)


def certain_pairs(problem: Problem, evidence: Evidence, least: float) -> IntArray:
    """The anchors, and the assigned pairs that evidence believes in at least by `least`, [m, 2]."""
    beliefs = evidence.beliefs
    sure = (beliefs.data >= least) & evidence.assigned
    return np.concatenate([problem.anchors, np.column_stack([row_index(beliefs)[sure], beliefs.indices[sure]])])


@dataclass(frozen=True)
class Near:
    """Pairs [m, 2] that are similar or that evidence reaches, the log-likelihood ratio of each, [m], and the aligned
    vectors."""

    pairs: IntArray
    log_ratio: FloatArray
    vectors: VectorAlignment | None = None


def find_near(problem: Problem, evidence: Evidence, config: Config, context: RunContext) -> Near:
    """The nearest pairs and evidence's candidates, in the space that `pairing.vectors` names."""
    if config.pairing.vectors == "shared":
        return _near_in_shared_space(problem, evidence, config, context)
    return near_pairs(problem, evidence, vectors_of(problem, config, context), config, context.progress)


def _near_in_shared_space(problem: Problem, evidence: Evidence, config: Config, context: RunContext) -> Near:
    known = certain_pairs(problem, evidence, config.pairing.certain)
    reached = np.column_stack([row_index(evidence.log_odds), evidence.log_odds.indices])
    levels = prepare_levels(without_weights(problem), config, context.cache)
    found = shared_prior(problem, known, levels, config.shared, config.seed)
    if found is None:
        return Near(reached, np.zeros(len(reached)))
    pairs = each_once(np.concatenate([np.column_stack([row_index(found), found.indices]), reached]))
    pairs = pairs[~problem.is_rejected(pairs)]
    ratio = entries_at(found, pairs)
    vectors = VectorAlignment(*place_both(levels, known, config))
    return Near(pairs, np.where(np.isfinite(ratio), ratio, 0.0), vectors)


def near_pairs(
    problem: Problem, evidence: Evidence, vectors: tuple[FloatArray, ...], config: Config, progress: Progress
) -> Near:
    """The nearest pairs and evidence's candidates, without rejected ones.

    The left and right `vectors` are aligned by the matches that evidence is certain of. Where that cannot be done, or
    an account has no vector, the log-ratio is 0. `progress` gets a note where the search is approximate.
    """
    (left, right), seed = vectors, config.seed
    known = certain_pairs(problem, evidence, config.pairing.certain)
    reached = np.column_stack([row_index(evidence.log_odds), evidence.log_odds.indices])
    nothing = Near(reached, np.zeros(len(reached)))
    if len(known) < FOLDS:
        return nothing
    aligned, ridge = project_by(left, right, known, seed)
    near = free_candidates(problem, aligned, config.pairing.nearest, _EXACT_UP_TO)
    if not near.exact:
        progress.note(
            # In steps, so that the many searches of a run are one line.
            f"the nearest accounts are searched for approximately: at least {min(int(10 * near.recall), 9) * 10}% of "
            "the true ones were found in a sample"
        )
    rng, scales = np.random.default_rng(seed), local_scales(near.cosines)
    similarity = fit_similarity(project_folds(left, right, known, ridge, rng), problem.anchors, scales, rng)
    if similarity is None:
        return nothing
    pairs = each_once(np.concatenate([near.pairs, reached]))
    pairs = pairs[~problem.is_rejected(pairs)]
    log_ratio = similarity.log_ratio(aligned, pairs)
    for side, unit in enumerate((aligned.left, aligned.right)):
        placed = np.asarray(unit.any(axis=1))
        log_ratio = np.where(placed[pairs[:, side]], log_ratio, 0.0)
    return Near(pairs, log_ratio, aligned)


def prior_of(near: Near, shape: tuple[int, int]) -> csr_array:
    """The log-ratios above 0, n_1 × n_2 sparse."""
    kept = near.log_ratio > 0
    return csr_array((near.log_ratio[kept], tuple(near.pairs[kept].T)), shape=shape)


def refine(
    problem: Problem,
    evidence: Evidence,
    config: Config,
    context: RunContext,
    profiles: ProfilePrior | None = None,
) -> Evidence:
    """Evidence again, with a prior from what it was certain of beside that of the profiles.

    Matches that the prior makes certain align the spaces better than the anchors alone did, so it is made again as long
    as there are many more of them.
    """
    spread, where = FORMS[config.evidence.form], Where.of(config.engine, context)
    certain = len(certain_pairs(problem, evidence, config.pairing.certain))
    for _ in range(config.pairing.refinements):
        before = certain
        near = find_near(problem, evidence, config, context)
        prior = prior_of(near, evidence.beliefs.shape)
        if prior.nnz == 0:
            break
        evidence = replace(spread(problem, config.evidence, prior, profiles, where=where), vectors=near.vectors)
        certain = len(certain_pairs(problem, evidence, config.pairing.certain))
        if certain < _GROWTH * before:
            break
    return evidence


def signals_of_candidates(
    problem: Problem,
    evidence: Evidence,
    config: Config,
    context: RunContext,
    profiles: ProfilePrior | None = None,
) -> tuple[Near, FloatArray]:
    """The pairs that a mixture orders, and the signals of each, [m, 6]."""
    near = find_near(problem, evidence, config, context)
    # The evidence of the anchors alone is that of a single round.
    single = config.evidence.model_copy(update={"rounds": 1, "least_rounds": 1})
    anchors_alone = propagate(problem, single, profiles=profiles)
    return near, known_of(near.pairs, near.log_ratio, evidence, anchors_alone)


def choose_settings(problem: Problem, config: Config, context: RunContext) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = choose_profile_weight(problem, choose_form(problem, config), context)
    config = with_vectors(problem, config)
    if config.pairing.use != "auto":
        return config
    plain, count = with_pairing(config, use="no"), len(problem.anchors)
    # Fewer anchors do not determine the six weights of a mixture.
    misleading = count >= _PLENTY and _few_common_edges(problem)
    dense = config.evidence.form == "dense"
    if dense and not misleading:
        return plain
    most = refinements_at_most(problem.left, problem.right, count, config.pairing)
    if most == 0:
        if 0 < count < _PLENTY and config.pairing.accounts and config.pairing.vectors != "mgcn":
            context.progress.note(
                f"{count} anchors are few for networks of this size: embeddings may find more, at more CPU, with "
                "--set pairing.use=yes"
            )
        return plain
    together = with_pairing(config, use="yes", refinements=most)
    if config.pairing.vectors == "mgcn":
        try:
            vectors_of(problem, together, context)
        except KedgeError as error:  # a network may be too odd to be trained, or memory too small
            context.progress.note(f"evidence alone is used: {error}")
            return plain
    if not misleading:
        return together
    mixed = _with_mixture(problem, together, context)
    return plain if dense and not mixed.pairing.mixture else mixed


def refinements_at_most(left: Network, right: Network, anchors: int, pairing: PairingConfig) -> int:
    """How often evidence is repeated with a prior from vectors, with so many anchors; 0 is evidence alone.

    A refinement with sketches takes minutes at most; training large networks would take hours.
    """
    if pairing.use != "auto":
        return pairing.refinements if pairing.use == "yes" and anchors else 0
    accounts, edges = left.n + right.n, left.edges + right.edges
    most = min(pairing.accounts, _SMALL) if pairing.vectors == "mgcn" else pairing.accounts
    if anchors == 0 or accounts > most or edges > _EDGES * pairing.accounts:
        return 0
    return min(pairing.refinements, 1 if anchors >= _PLENTY else _LARGE if accounts > _SMALL else pairing.refinements)


def choose_form(problem: Problem, config: Config) -> Config:
    """The configuration with the form of the evidence chosen, by validation anchors if the settings leave it open."""
    if config.evidence.form != "auto":
        return config
    form = choose(problem, config.evidence, config.seed, partial(profile_prior, config=config))
    return config.model_copy(update={"evidence": config.evidence.model_copy(update={"form": form})})


def _few_common_edges(problem: Problem) -> bool:
    """Whether less than half of the edges among the anchors, in either network, are edges of the other one too."""
    common, *each = common_edges(problem)
    return min(each) >= _LEAST_EDGES and all(common < _COMMON * edges for edges in each)


def _with_mixture(problem: Problem, together: Config, context: RunContext) -> Config:
    """With the weights of a mixture, if validation anchors gain by one: tried fold by fold, until they gain clearly or
    not at all."""
    choices: list[Choices] = []
    reached: FloatArray = np.zeros(0)
    # Of very many anchors a part is enough.
    for trial, held in problem.folds(_FOLDS, together.seed, _FOLDS * _HELD):
        one, ranks = _try(trial, held, together, context)
        choices.append(one)
        reached = np.append(reached, ranks)
        mixed = _mixed_ranks(choices, (problem.left.n, problem.right.n))
        worth_it = mixed.mean() >= reached.mean() + _WORTH
        if not worth_it or gains(mixed, reached, _CLEARLY):
            break
    better = worth_it and gains(mixed, reached, _CLEARLY)
    context.progress.note(
        "the networks have few edges in common: validation anchors have a mean reciprocal rank of "
        f"{reached.mean():.3f} by evidence and embeddings, of {mixed.mean():.3f} where both are weighed anew; they are "
        f"{'weighed anew' if better else 'left as they are'}"
    )
    return with_pairing(together, mixture=fit_mixture(choices)) if better else together


def _try(trial: Problem, held: IntArray, config: Config, context: RunContext) -> tuple[Choices, FloatArray]:
    """What a mixture orders in a problem without the held anchors, and 1 / rank of each of them by evidence alone."""
    profiles = profile_prior(trial, config)
    evidence = FORMS[config.evidence.form](trial, config.evidence, profiles=profiles)
    evidence = refine(trial, evidence, config, context, profiles)
    near, known = signals_of_candidates(trial, evidence, config, context, profiles)
    return Choices(near.pairs, known, held), reciprocal_ranks(ranking_scores(evidence), held)


def _mixed_ranks(choices: Sequence[Choices], shape: tuple[int, int]) -> FloatArray:
    """1 / rank of each held anchor by a mixture that was learnt from the others: halves of the folds in turn.

    There is no new assignment: it would cost more than all else here, and the assignment of evidence is a signal of the
    mixture.
    """
    halves = [replace(one, held=half) for one in choices for half in np.array_split(one.held, 2)]
    result = []
    for i, half in enumerate(halves):
        weights = fit_mixture(halves[:i] + halves[i + 1 :])
        order = weighed_scores(mix(half.pairs, half.known, weights, shape), assigned=False)
        result.append(reciprocal_ranks(order, half.held))
    return np.concatenate(result)


def with_vectors(problem: Problem, config: Config) -> Config:
    """What the prior is made from: hyperedges of the user's own are of use to MGCN alone. MGCN's shared space ranks
    better with few anchors, but matches are then right less often than promised, so it is not chosen here
    (docs/decisions/0051)."""
    if config.pairing.vectors != "auto":
        return config
    own = any(hyperedges is not None for hyperedges in problem.hypergraphs)
    return with_pairing(config, vectors="mgcn" if own else "sketch")


def with_pairing(config: Config, **changes: object) -> Config:
    """The configuration with other settings of the prior."""
    return config.model_copy(update={"pairing": config.pairing.model_copy(update=changes)})
