"""MGCN (KDD'20) as a method, in one of two spaces (`mgcn.space`).

`shared`: both networks at once, in coordinates of the known pairs (embedding/coordinates.py), in rounds. Each round
places all accounts, scores the nearest ones (similarity/local_scaling.py), and finds the pairs that are each other's
best; the coordinates of the next round are the anchors and these. Nothing is trained.

`projected`, the paper's: both networks are embedded alone by Eq. 1-10 and projected by the anchors (Eq. 11), as with
all methods that train vectors (similarity/align.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from kedge.config import AUTO, Config
from kedge.context import Cache, CacheEntry, RunContext, digest, get_or_make, spawn_seeds
from kedge.embedding.auto import with_builders
from kedge.embedding.coordinates import compress, locate, prepare_levels
from kedge.embedding.network import NetworkVectors, embed_both, recall_both
from kedge.embedding.part import hyperedges
from kedge.hypergraph.choice import BuilderChoice, choose_builders
from kedge.linalg import SparseAlignment, VectorAlignment, reciprocal_ranks
from kedge.methods.shared.pairs import anchors_above
from kedge.similarity import align_vectors, mutual_best, project_by, scale_locally
from kedge.types import Alignment, KedgeError, Problem

_CANDIDATES: Final = ("profiles", "nearest", "communities", "neighbourhood:64")  # that may join the plain neighbourhood
BOTH: Final = "both networks"
_JUDGED_BY: Final = "mean reciprocal rank"
_LEAST_GAIN: Final = 0.01  # in mean reciprocal rank, for which a further builder joins: below is noise (decision 47)
_MOST_RANKED: Final = 600  # validation anchors; more would leave too few known
_FEWEST_RANKED: Final = 30  # below, a gain of 0.01 is a single account; unmeasured


def align(problem: Problem, config: Config, context: RunContext) -> Alignment:
    """Scores of the nearest accounts in the space that the settings ask for."""
    return (align_shared_space if config.mgcn.space == "shared" else align_projected)(problem, config, context)


def align_shared_space(problem: Problem, config: Config, context: RunContext) -> SparseAlignment:
    """`shared.rounds` rounds; the scores are those of the last, and anchors are above them."""
    anchors, settings = problem.anchors, config.shared
    if len(anchors) == 0:
        raise KedgeError("mgcn has no anchors to place accounts by", remedy="give at least one known pair")
    config = choose_settings(problem, config, context)
    levels = prepare_levels(problem, config, context.cache)
    free = (np.ones(problem.left.n, bool), np.ones(problem.right.n, bool))
    for side, mask in enumerate(free):
        mask[anchors[:, side]] = False
    known = anchors
    for done in range(settings.rounds):
        sides = [locate(levels[side], known[:, side], settings) for side in (0, 1)]
        scores = scale_locally(sides[0], sides[1], free, config.baselines.keep, settings.neighbours)
        context.progress.advance(done + 1, settings.rounds, f"rounds; {len(known):,} pairs are coordinates")
        best = mutual_best(scores)
        known = np.concatenate([anchors, best[~problem.is_rejected(best)]])
    seed = spawn_seeds(config.seed)[2]
    left, right = (compress(side, config.mgcn.dimensions, seed) for side in sides)
    return replace(anchors_above(problem, scores), vectors=VectorAlignment(left, right))


def choose_settings(problem: Problem, config: Config, context: RunContext) -> Config:
    """The configuration with `hypergraph.builders` chosen where both networks are placed at once.

    Where each is trained alone, each has builders of its own: they stay open here (embedding/auto.py).
    """
    if config.hypergraph.builders != AUTO or config.mgcn.space != "shared":
        return config
    return with_builders(config, _chosen(problem, config, context).builders)


def _chosen(problem: Problem, config: Config, context: RunContext) -> BuilderChoice:
    """Which builders are levels beside the plain neighbourhood, by validation anchors; from the cache if it has it.

    Half of the anchors are known in a trial and the other half are ranked, or `_MOST_RANKED` of them. A trial is a
    placement of both networks with all its rounds.
    """
    candidates = [name for name in _CANDIDATES if name != "profiles" or problem.shared_values[0] is not None]
    drawn = np.random.default_rng([config.seed, 50]).permutation(len(problem.anchors))
    held = np.sort(drawn[: min(len(drawn) // 2, _MOST_RANKED)])
    where = f"{len(held):,} of {len(drawn):,} anchors"
    if len(held) < _FEWEST_RANKED:
        return BuilderChoice("neighbourhood", _JUDGED_BY, f"{where}, too few to choose by", ())
    trial, asked = problem.hold_out(held)

    def judge(builders: str) -> float:
        context.progress.advance(0, None, f"trial of hyperedges: {builders}")
        own = RunContext(context.cache)
        found = align_shared_space(trial, with_builders(config, builders), own)
        ranks = reciprocal_ranks(found.scores, asked)
        return round(float(ranks.mean()), 6)

    def make() -> CacheEntry:
        choice = choose_builders(
            candidates, judge, config.hypergraph.trials, _LEAST_GAIN, (_JUDGED_BY, where), base=("neighbourhood",)
        )
        context.progress.note(f"{BOTH}: {choice.describe()}")
        return CacheEntry({}, choice.facts())

    settings = [stage.model_dump(mode="json") for stage in (config.hypergraph, config.shared)]
    edges = [part for A in (problem.left.adjacency, problem.right.adjacency) for part in (A.indptr, A.indices, A.data)]
    given = [part for own in (*problem.hypergraphs, *problem.shared_values) for part in hyperedges(own)]
    key = digest(["builders of both", *settings, config.seed], *edges, *given, problem.anchors, problem.rejected)
    return BuilderChoice.from_facts(get_or_make(context.cache, key, make).facts)


def align_projected(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Embeddings by Eq. 1-10 (and 12 where cut into parts); the right one projected into the left one's space (Eq. 11).

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    left, right = (made.vectors for made in embed_both(problem, config, config.seed, context))
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])


def prepare(problem: Problem, config: Config, context: RunContext) -> dict[str, Any]:
    """What a report shows of the vectors: their training, or how builders of the shared space were chosen."""
    if config.mgcn.space == "projected":
        return train_both(problem, config, context)
    chosen = {BOTH: _chosen(problem, config, context).facts()}
    return {"training": {"curves": {}, "builders": chosen}, "parts": {}}


def train_both(problem: Problem, config: Config, context: RunContext) -> dict[str, Any]:
    """Train both networks' vectors into the cache; curves of their training and facts on their parts."""
    made_both = dict(zip(problem.sides, embed_both(problem, config, config.seed, context), strict=True))
    sides: dict[str, NetworkVectors] = {name: made_both[name] for name in ("left", "right")}
    curves: dict[str, list[float]] = {name: made.curve for name, made in sides.items()}
    longest = max(len(curve) for curve in curves.values())
    curves["trivial"] = [sides["left"].trivial] * longest
    return {
        "training": {
            "curves": {"loss": curves},
            "steps": {name: list(made.steps) for name, made in sides.items()},
            "auc": {name: list(made.auc) for name, made in sides.items()},
            "levels": {name: made.level_shares for name, made in sides.items()},
            "builders": {name: made.choice.facts() for name, made in sides.items() if made.choice is not None},
        },
        "parts": {
            **{name: np.bincount(made.parts.part).tolist() for name, made in sides.items()},
            "shared": {name: len(made.parts.shared) for name, made in sides.items()},
            "residuals": {name: np.round(made.residuals, 6).tolist() for name, made in sides.items()},
            "notes": [note for made in sides.values() for note in made.notes],
        },
    }


def recall_vectors(problem: Problem, config: Config, cache: Cache) -> VectorAlignment | None:
    """The cosines behind `align`, from vectors that are cached already; None where they are not."""
    found = recall_both(problem, config, config.seed, cache)
    if found is None or len(problem.anchors) == 0:
        return None
    left, right = (made.vectors for made in found)
    return project_by(left, right, problem.anchors, spawn_seeds(config.seed)[2])[0]


def trains(config: Config) -> bool:
    """In the paper's space: the shared one needs no training, at most a choice of builders."""
    return config.mgcn.space == "projected" or config.hypergraph.builders == AUTO
