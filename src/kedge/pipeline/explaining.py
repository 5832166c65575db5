"""Why a run thinks what it thinks of two accounts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.errors import KedgeError
from kedge.link.evidence import terms
from kedge.link.explain import Explanation, explain
from kedge.link.mixture import COLUMNS
from kedge.methods import evidenced, recall_alignment
from kedge.pipeline.layout import EMBEDDINGS, PRIOR
from kedge.pipeline.reading import load_decided, load_evidence, load_mixture
from kedge.store import ALIGNMENT, DiskShelf
from kedge.types import Problem

__all__ = ["explain_pair"]


def explain_pair(directory: Path, left: str, right: str) -> Explanation:
    """Why the run thinks what it thinks of two accounts, given by their ids."""
    problem, matches, config, _ = load_decided(directory)
    accounts = []
    for side, network, name in (("left", problem.left, left), ("right", problem.right, right)):
        account = int(network.find([name])[0])
        if account < 0:
            other = problem.right if side == "left" else problem.left
            hint = "; it is on the other side: exchange the two" if other.find([name])[0] >= 0 else ""
            raise KedgeError(f"no {side} account {name!r} in this run{hint}", file=directory, remedy="check the id")
        accounts.append(account)
    evidence = load_evidence(directory, problem, config)
    u, v = accounts
    if evidence is None:
        note = f"the method {config.method} leaves no evidence of single neighbours"
        alike = _similarity(directory, problem, config, u, v)
        return explain(problem, matches, u, v, lambda _left, _right: [], similarity=alike, notes=(note,))
    found = terms(problem, evidence, u, v)
    # What belongs to no neighbour is where the waterfall begins: the degrees compared, and what the vectors say.
    prior = sum(term.weight for term in found if term.a < 0 and term.b < 0)
    vectors = 0.0 if evidence.prior is None else float(evidence.prior[u, v])
    neighbours = [term for term in found if term.a >= 0 or term.b >= 0]
    return explain(
        problem,
        matches,
        u,
        v,
        lambda _left, _right: neighbours,
        prior=prior,
        vectors=vectors,
        similarity=_similarity(directory, problem, config, u, v),
        notes=_order_note(directory),
    )


def _order_note(directory: Path) -> tuple[str, ...]:
    """That candidates do not stand in the order of their log-odds, where a mixture orders them."""
    weights = load_mixture(directory)
    if not weights:
        return ()
    named = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(COLUMNS, weights, strict=True))
    return (f"candidates do not stand in the order of their log-odds, but as pairing.mixture weighs: {named}",)


def _similarity(directory: Path, problem: Problem, config: Config, u: int, v: int) -> float | None:
    """The cosine of the two accounts' vectors, the spaces laid over each other by the anchors (Eq. 11).

    None where the run has no vectors: its method makes none, they were not affordable, or a purge came since.
    """
    if evidenced(config.method) is None:
        alignment = ALIGNMENT.load(directory / "model" / "scores.npz")
    elif (directory / PRIOR).exists():
        shelf = DiskShelf(directory / EMBEDDINGS, lambda _damaged: None)
        alignment = recall_alignment(problem, config, shelf)
    else:
        return None
    return float(alignment.cosine(np.array([[u, v]]))[0]) if isinstance(alignment, VectorAlignment) else None
