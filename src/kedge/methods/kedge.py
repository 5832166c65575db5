"""Evidence, with nearness in embeddings as its prior: kedge's own method.

Where that is not affordable it is evidence alone (settling.py, docs/decisions/0025). The vectors are sketches of the
networks unless the settings ask for MGCN's (docs/decisions/0017); how much nearness counts as a prior is estimated
(docs/decisions/0018). Where the settings have a mixture, all that is known of a candidate is weighed anew for its place
(docs/decisions/0020).
"""

from __future__ import annotations

from dataclasses import replace

from kedge.alignment import SparseAlignment, VectorAlignment
from kedge.config import Config
from kedge.embedding import recall_sketches
from kedge.link.choice import FORMS
from kedge.link.evidence import Evidence
from kedge.link.mixture import mix
from kedge.methods import mgcn
from kedge.methods.embedded import lay_vectors
from kedge.methods.evidence import recall, scores
from kedge.methods.settling import settle, with_vectors
from kedge.methods.together import hear_prior, what_is_known
from kedge.types import Problem
from kedge.workshop import Shelf, Workshop

__all__ = ["align", "hear", "recall", "recall_alignment", "scores", "settle"]

_KEPT = 20_000  # accounts beyond which their vectors would weigh more than all else that a run keeps


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or nearness reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed, workshop))


def hear(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Evidence:
    """Evidence alone, or with what its matches and the vectors say as a prior, if the settings want it.

    Where the settings have a mixture, it orders the candidates.
    """
    workshop = workshop or Workshop()
    config = settle(problem, config, seed, workshop)
    heard = FORMS[config.evidence.form](problem, config.evidence)
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return heard
    if config.pairing.turns:
        heard = hear_prior(problem, heard, config, workshop)
    if config.pairing.mixture:
        near, known = what_is_known(problem, heard, config, workshop)
        weighed = mix(near.pairs, known, config.pairing.mixture, heard.beliefs.shape)
        heard = replace(heard, weighed=weighed, laid=near.laid)
    large = problem.left.n + problem.right.n > _KEPT
    return replace(heard, laid=None) if large else heard


def recall_alignment(problem: Problem, config: Config, seed: int, shelf: Shelf) -> VectorAlignment | None:
    """The cosines of the vectors that a run left on its shelf, laid over each other by the anchors; None without.

    `config` may be as it was asked for, not settled.
    """
    if with_vectors(problem, config).pairing.vectors == "mgcn":
        return mgcn.recall_alignment(problem, config, seed, shelf)
    found = recall_sketches(problem, config, shelf)
    if found is None or len(problem.anchors) == 0:
        return None
    return lay_vectors(problem, found[0], found[1], seed)
