"""The evidence of a finished run for and against a pair of accounts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kedge.config import Config
from kedge.decide.explanation import Explanation, PairEvidence, explain
from kedge.evidence import COLUMNS, Evidence, recall, terms
from kedge.methods import find_method
from kedge.store import (
    DECIDED,
    PRIOR,
    SCORES,
    SUPPORT,
    Artefacts,
    load_decided,
    load_mixture,
    load_suspects,
    open_finished,
    open_vectors,
)
from kedge.types import Alignment, KedgeError, Problem


def load_evidence(artefacts: Artefacts, problem: Problem) -> Evidence | None:
    """What explains the log-odds of a run's pairs; None where its method left nothing of the kind."""
    if not artefacts.has(SUPPORT.file):
        return None
    prior = artefacts.load(PRIOR) if artefacts.has(PRIOR.file) else None
    return recall(load_suspects(artefacts).trusted(problem), artefacts.load(SUPPORT), prior)


def explain_pair(directory: Path, left: str, right: str) -> Explanation:
    """The evidence for and against two accounts, given by their ids."""
    run = open_finished(directory, DECIDED)
    problem, matches, config = load_decided(run)
    accounts = []
    for side, network, name in (("left", problem.left, left), ("right", problem.right, right)):
        account = int(network.find([name])[0])
        if account < 0:
            other = problem.right if side == "left" else problem.left
            hint = "; it is on the other side: exchange the two" if other.find([name])[0] >= 0 else ""
            raise KedgeError(f"no {side} account {name!r} in this run{hint}", file=directory, remedy="check the id")
        accounts.append(account)
    evidence = load_evidence(run, problem)
    u, v = accounts
    similarity = _similarity(run, problem, config, u, v)
    if evidence is None:
        note = f"the method {config.method} leaves no evidence of single neighbours"
        return explain(problem, matches, (u, v), PairEvidence(similarity=similarity), (note,))
    found = terms(problem, evidence, u, v)
    # What belongs to no neighbour is where the waterfall begins: the degree prior, and the vector prior.
    prior = sum(term.weight for term in found if term.a < 0 and term.b < 0)
    vectors = 0.0 if evidence.prior is None else float(evidence.prior[u, v])
    neighbours = [term for term in found if term.a >= 0 or term.b >= 0]
    known = PairEvidence(neighbours, prior, vectors, similarity)
    return explain(problem, matches, (u, v), known, _order_note(run))


def _order_note(run: Artefacts) -> tuple[str, ...]:
    """A note where a mixture orders the candidates, not their log-odds."""
    weights = load_mixture(run)
    if not weights:
        return ()
    named = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(COLUMNS, weights, strict=True))
    return (f"candidates are ordered by pairing.mixture, not by their log-odds: {named}",)


def _similarity(run: Artefacts, problem: Problem, config: Config, u: int, v: int) -> float | None:
    """The cosine of the two accounts' vectors, their spaces aligned by the anchors (Eq. 11).

    None where the run has no vectors: its method makes none, they were not affordable, or a purge came since.
    """
    method = find_method(config.method)
    alignment: Alignment | None = None
    if not method.explains:
        alignment = run.load(SCORES)
    elif run.has(PRIOR.file):
        alignment = method.recall_vectors(problem, config, open_vectors(run))
    cosine = None if alignment is None else alignment.cosine(np.array([[u, v]]))
    return None if cosine is None else float(cosine[0])
