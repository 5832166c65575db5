"""The evidence of a finished run for and against a pair of accounts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from kedge.config import Config
from kedge.context import Cache
from kedge.decide.explanation import Explanation, FieldsOfRun, evidence_of, explain
from kedge.errors import did_you_mean
from kedge.evidence import COLUMNS, Evidence, recall
from kedge.methods import find_method
from kedge.pipeline.solve import Outcome
from kedge.profiles import KnownFields, fit_fields
from kedge.report import explanation_svg
from kedge.store import (
    DECIDED,
    FIELDS,
    PRIOR,
    SCORES,
    Artefacts,
    load_decided,
    load_known_fields,
    load_mixture,
    load_settings,
    load_support,
    load_suspects,
    open_finished,
    open_vectors,
    refuse_overwrite,
    write_atomically,
)
from kedge.types import Alignment, KedgeError, Network, Problem

_FEW: Final = 20_000  # accounts among which a like id is looked for: more take seconds


def load_evidence(artefacts: Artefacts, problem: Problem) -> Evidence | None:
    """What explains the log-odds of a run's pairs; None where its method left nothing of the kind."""
    support = load_support(artefacts)
    trusted = load_suspects(artefacts).trusted(problem)
    return None if support is None else recall(trusted, support.beliefs, support.prior)


def explain_pair(directory: Path, left: str, right: str) -> Explanation:
    """The evidence for and against two accounts, given by their ids, and the way to their probability."""
    run = open_finished(directory, DECIDED)
    problem, matches, config = load_decided(run)
    pair = _accounts(problem, left, right, directory)
    evidence = load_evidence(run, problem)
    similarity = _similarity(run, problem, config, *pair)
    known = evidence_of(problem, evidence, pair, similarity, load_fields_of_run(run))
    return explain(problem, matches, pair, known, _notes(config, evidence, load_mixture(run)))


def load_fields_of_run(run: Artefacts) -> FieldsOfRun:
    """What explains the profile part of a run's pairs."""
    if not run.has(FIELDS.file):
        return FieldsOfRun()
    return FieldsOfRun(load_known_fields(run), True, load_settings(run).pairing.use == "yes")


def explain_outcome(outcome: Outcome, left: str, right: str) -> Explanation:
    """The same of a match in memory."""
    problem, alignment = outcome.problem, outcome.alignment
    pair = _accounts(problem, left, right, None)
    trusted = outcome.suspects.trusted(problem)
    evidence = (
        None if alignment.support is None else recall(trusted, alignment.support.beliefs, alignment.support.prior)
    )
    if find_method(outcome.config.method).explains and outcome.cache is not None:
        similarity = _cosine(_recalled(problem, outcome.config, outcome.cache), pair)
    else:
        similarity = _cosine(alignment, pair)
    known = evidence_of(problem, evidence, pair, similarity, _fields_in_memory(outcome))
    notes = _notes(outcome.config, evidence, outcome.config.pairing.mixture)
    return explain(problem, outcome.matches, pair, known, notes)


def check_picture(path: Path, force: bool) -> None:
    """Refuse, before any work, a picture that is not SVG or cannot be written."""
    if path.suffix.lower() != ".svg":
        raise KedgeError(f"no picture format {path.suffix!r}", file=path, remedy="end the name in .svg")
    refuse_overwrite(path, force)


def draw_explanation(explanation: Explanation, path: Path) -> None:
    """Write the picture of an explanation, whole or not at all."""
    picture = explanation_svg(explanation).encode()
    write_atomically(path, lambda file: file.write(picture))


def _fields_in_memory(outcome: Outcome) -> FieldsOfRun:
    if outcome.problem.profiles is None:
        return FieldsOfRun()
    fitted = fit_fields(outcome.suspects.trusted(outcome.problem), outcome.config)
    known = KnownFields(*outcome.problem.profiles, fitted)
    return FieldsOfRun(known, True, outcome.config.pairing.use == "yes")


def _accounts(problem: Problem, left: str, right: str, file: Path | None) -> tuple[int, int]:
    accounts = []
    for side, network, name in (("left", problem.left, left), ("right", problem.right, right)):
        account = int(network.find([name])[0])
        if account < 0:
            other = problem.right if side == "left" else problem.left
            if other.find([name])[0] >= 0:
                where = f"no {side} account {name!r} in this run, but the other network has it"
                raise KedgeError(where, file=file, remedy="exchange the two: the left account comes first")
            raise KedgeError(f"no {side} account {name!r} in this run", file=file, remedy=_near(network, name))
        accounts.append(account)
    return accounts[0], accounts[1]


def _near(network: Network, name: str) -> str:
    """The remedy for an id that is not there: one that differs in case or spaces alone, or in little."""
    plain = name.strip().casefold()
    ids = network.ids.to_pylist()
    same = next((known for known in ids if known.strip().casefold() == plain), None)
    if same is not None:
        return f"did you mean {same!r}?"
    return "check the id" if len(ids) > _FEW else did_you_mean(name, ids, "check the id")


def _notes(config: Config, evidence: Evidence | None, weights: Sequence[float]) -> tuple[str, ...]:
    """A note where there is no log-odds, and where a mixture orders the candidates, not their log-odds."""
    if evidence is None:
        return (f"the method {config.method} leaves no evidence of single neighbours",)
    if not weights:
        return ()
    named = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(COLUMNS, weights, strict=True))
    return (f"candidates are ordered by pairing.mixture, not by their log-odds: {named}",)


def _similarity(run: Artefacts, problem: Problem, config: Config, u: int, v: int) -> float | None:
    """The cosine of the two accounts' vectors, their spaces aligned by the anchors (Eq. 11).

    None where the run has no vectors: its method makes none, they were not affordable, or a purge came since.
    """
    if not find_method(config.method).explains:
        return _cosine(run.load(SCORES), (u, v))
    return _cosine(_recalled(problem, config, open_vectors(run)) if run.has(PRIOR.file) else None, (u, v))


def _recalled(problem: Problem, config: Config, cache: Cache) -> Alignment | None:
    """The cosines of cached vectors, as a method that explains pairs has them."""
    found: Alignment | None = find_method(config.method).recall_vectors(problem, config, cache)
    return found


def _cosine(alignment: Alignment | None, pair: tuple[int, int]) -> float | None:
    cosine = None if alignment is None else alignment.cosine(np.array([pair]))
    return None if cosine is None else float(cosine[0])
