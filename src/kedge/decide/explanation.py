"""The evidence for and against a pair, also one that is no match, and the way from it to the probability shown.

    1 evidence     prior + vectors + Σ fields + Σ hits (neighbours for it) + Σ misses (neighbours against it) = log-odds
    2 rivals       P(right | the left account has a counterpart), next to what its other candidates have of it
    3 counterpart  P(right | counterpart) · P(counterpart) = probability

Explanations are plain data; `kedge.decide.steps` renders them for people and for machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from kedge.evidence import Evidence, Term, terms
from kedge.linalg import entries_at
from kedge.profiles import FieldOfPair, KnownFields
from kedge.types import DECISIONS, IntArray, Matches, Problem, Side

Beside = Literal["vectors", "profiles", "vectors and profiles", "purged values"]
VECTORS: Final = "vectors"
_ROUNDING: Final = 1e-3  # log-odds below which the rest of a prior beside its fields is none


class PairEvidence(NamedTuple):
    """What is known of one pair: terms of single neighbours (-1: none on that side), the degree prior, the prior from
    vectors and what each field of the profiles adds, which add up to the log-odds; and the cosine of its vectors, None
    without vectors.

    `terms` is None where the method leaves no evidence of single neighbours. `beside` names what `vectors` is of: in a
    run that keeps no profiles their part is in it.
    """

    terms: Sequence[Term] | None = ()
    prior: float = 0.0
    vectors: float = 0.0
    similarity: float | None = None
    fields: tuple[FieldOfPair, ...] = ()
    beside: Beside = VECTORS


class FieldsOfRun(NamedTuple):
    """What explains the profile part of pairs: the values, None where the run has none; whether it compared
    `profiles`, and whether it used `vectors`."""

    known: KnownFields | None = None
    profiles: bool = False
    vectors: bool = True

    def split(self, prior: csr_array | None, pair: tuple[int, int]) -> tuple[tuple[FieldOfPair, ...], float, Beside]:
        """The prior of a pair as its fields, the rest, and what the rest is of."""
        at = float("-inf") if prior is None else float(entries_at(prior, np.array([pair]))[0])
        counted = None if at == float("-inf") else at
        if self.known is None or self.known.fitted.scale == 0:
            if self.known is not None or not self.profiles:
                return self.known.of(pair) if self.known else (), counted or 0.0, VECTORS
            return (), counted or 0.0, "vectors and profiles" if self.vectors else "profiles"
        fields = self.known.of(pair, None if self.vectors else counted)
        rest = 0.0 if counted is None else counted - sum(field.weight for field in fields)
        # What vectors do not explain is of accounts that were purged since: frequencies of values have changed.
        return fields, rest if abs(rest) >= _ROUNDING else 0.0, VECTORS if self.vectors else "purged values"


def evidence_of(
    problem: Problem,
    evidence: Evidence | None,
    pair: tuple[int, int],
    similarity: float | None = None,
    fields: FieldsOfRun | None = None,
) -> PairEvidence:
    """What a finished propagation knows of any pair."""
    if evidence is None:
        return PairEvidence(None, similarity=similarity)
    found = terms(problem, evidence, *pair)
    # What belongs to no neighbour is where the waterfall begins: the degree prior, profiles, and the vector prior.
    prior = sum(term.weight for term in found if term.a < 0 and term.b < 0)
    known, vectors, beside = (fields or FieldsOfRun()).split(evidence.prior, pair)
    neighbours = [term for term in found if term.a >= 0 or term.b >= 0]
    return PairEvidence(neighbours, prior, vectors, similarity, known, beside)


@dataclass(frozen=True)
class Reason:
    """What neighbours add: the two of them, or one whose match is among the other's neighbours (a hit) or not (a miss).

    `belief` is that of the sentence: that they are the same person, that the match is among them, that it is not.
    """

    left: str | None
    right: str | None
    belief: float
    weight: float


@dataclass(frozen=True)
class Candidate:
    """Another candidate that competes with the explained pair; `given_counterpart` as in `Competition`."""

    left: str
    right: str
    score: float
    probability: float
    given_counterpart: float
    decision: str


@dataclass(frozen=True)
class Lead:
    """How far a pair's score is above (below: negative) the best other candidate's score of its account on `side`."""

    side: Side
    rival: str
    lead: float


@dataclass(frozen=True)
class Competition:
    """Who the left account is, given that it has a counterpart: this candidate, the runner-up, others, none of them.

    The four shares add up to 1. Where probabilities are estimated for right accounts, candidates alone may add up to
    more, and `unlisted` is 0. `leads` are over the other candidates of the left and of the right account: the shares
    follow from them, and from how often such leads were right among the validation anchors.
    """

    leads: tuple[Lead, ...]
    given_counterpart: float
    others: int
    others_given_counterpart: float
    unlisted: float


@dataclass(frozen=True)
class Explanation:
    """One pair explained. `log_odds` is prior + vectors + fields + hits + misses; None: the method leaves no such
    evidence. `beside` names what `vectors` is of.

    `competition` is None where the pair is no candidate. `runner_up` is the left account's best other candidate,
    `rival` the right account's. `probability` is `competition.given_counterpart` times `counterpart`, the
    probability that the left account has one. `verdict` is the decision in words.
    """

    left: str
    right: str
    verdict: str
    prior: float
    hits: tuple[Reason, ...]
    misses: tuple[Reason, ...]
    log_odds: float | None
    similarity: float | None
    score: float | None
    probability: float | None
    counterpart: float | None
    rank: int | None
    decision: str | None
    competition: Competition | None
    runner_up: Candidate | None
    rival: Candidate | None
    notes: tuple[str, ...] = ()
    vectors: float = 0.0
    fields: tuple[FieldOfPair, ...] = ()
    beside: Beside = VECTORS

    def __str__(self) -> str:
        from kedge.decide.steps import as_text

        return as_text(self).rstrip()


def explain(
    problem: Problem, matches: Matches, pair: tuple[int, int], evidence: PairEvidence, notes: tuple[str, ...] = ()
) -> Explanation:
    """Explain the pair (left, right), whether or not it is among the matches."""
    left, right = pair
    largest_first = sorted(evidence.terms or (), key=lambda t: (-t.weight, t.a, t.b))
    # A neighbour alone is a miss where it counts against the pair.
    reasons = [((t.a >= 0 and t.b >= 0) or t.weight >= 0, _reason(problem, t)) for t in largest_first]
    total = float(evidence.prior) + float(evidence.vectors) + sum(field.weight for field in evidence.fields)
    total += sum(reason.weight for _, reason in reasons)
    of_left, of_right = matches.left == left, matches.right == right
    here = np.flatnonzero(of_left & of_right)
    row = int(here[0]) if len(here) else None
    return Explanation(
        left=problem.left.name(left),
        right=problem.right.name(right),
        verdict=_verdict(problem, matches, left, right, row),
        prior=float(evidence.prior),
        hits=tuple(reason for hit, reason in reasons if hit),
        misses=tuple(reason for hit, reason in reasons if not hit),
        vectors=float(evidence.vectors),
        fields=evidence.fields,
        beside=evidence.beside,
        log_odds=None if evidence.terms is None else total,
        similarity=None if evidence.similarity is None else float(evidence.similarity),
        counterpart=float(matches.counterpart[np.argmax(of_left)]) if of_left.any() else None,
        **_row(matches, row),
        competition=None if row is None else _compete(matches, row, np.flatnonzero(of_left), np.flatnonzero(of_right)),
        runner_up=_best(matches, np.flatnonzero(of_left & ~of_right)),
        rival=_best(matches, np.flatnonzero(of_right & ~of_left)),
        notes=notes,
    )


def _compete(matches: Matches, row: int, of_left: IntArray, of_right: IntArray) -> Competition:
    """What the candidate of `row` has against its rivals, by the rows of its left and of its right account."""
    others = of_left[of_left != row]
    runner_up = _best(matches, others)
    shares = sum(_given_counterpart(matches, int(other)) for other in others)
    mine, second = _given_counterpart(matches, row), runner_up.given_counterpart if runner_up else 0.0
    leads = (_lead(matches, row, others, "left"), _lead(matches, row, of_right[of_right != row], "right"))
    return Competition(
        leads=tuple(lead for lead in leads if lead is not None),
        given_counterpart=mine,
        others=max(len(others) - 1, 0),
        others_given_counterpart=max(shares - second, 0.0),
        unlisted=max(1.0 - mine - shares, 0.0),
    )


def _lead(matches: Matches, row: int, rivals: IntArray, side: Side) -> Lead | None:
    if len(rivals) == 0:
        return None
    ids, at = (matches.right_ids, matches.right) if side == "left" else (matches.left_ids, matches.left)
    best = int(rivals[np.lexsort((at[rivals], -matches.score[rivals]))[0]])
    return Lead(side, str(ids[int(at[best])]), float(matches.score[row]) - float(matches.score[best]))


def _given_counterpart(matches: Matches, row: int) -> float:
    counterpart = float(matches.counterpart[row])
    return float(matches.probability[row]) / counterpart if counterpart > 0 else 0.0


def _row(matches: Matches, row: int | None) -> dict[str, Any]:
    """What the matches have of the pair; None for each without a row."""
    if row is None:
        return dict.fromkeys(("score", "probability", "rank", "decision"))
    numbers = {"score": float(matches.score[row]), "probability": float(matches.probability[row])}
    return {**numbers, "rank": int(matches.rank[row]), "decision": DECISIONS[int(matches.decision[row])]}


def _reason(problem: Problem, term: Term) -> Reason:
    left = problem.left.name(term.a) if term.a >= 0 else None
    right = problem.right.name(term.b) if term.b >= 0 else None
    return Reason(left, right, float(term.belief), float(term.weight))


def _best(matches: Matches, rows: Any) -> Candidate | None:
    if len(rows) == 0:
        return None
    row = int(rows[np.lexsort((matches.right[rows], matches.left[rows], -matches.probability[rows]))[0]])
    return Candidate(
        str(matches.left_ids[int(matches.left[row])]),
        str(matches.right_ids[int(matches.right[row])]),
        float(matches.score[row]),
        float(matches.probability[row]),
        _given_counterpart(matches, row),
        DECISIONS[int(matches.decision[row])],
    )


def _verdict(problem: Problem, matches: Matches, left: int, right: int, row: int | None) -> str:
    """What was decided about the pair, in words."""
    partner_of_left = problem.anchors[problem.anchors[:, 0] == left, 1]
    partner_of_right = problem.anchors[problem.anchors[:, 1] == right, 0]
    if len(partner_of_left) and partner_of_left[0] == right:
        return "a known pair: one of the anchors"
    if len(partner_of_left):
        return f"ruled out: the left account is known to be {problem.right.name(int(partner_of_left[0]))}"
    if len(partner_of_right):
        return f"ruled out: the right account is known to be {problem.left.name(int(partner_of_right[0]))}"
    if (problem.rejected == (left, right)).all(axis=1).any():
        return "ruled out by a reviewer"
    if row is None:
        return "not a candidate: others score higher for both accounts, or there is no evidence for the pair"
    if matches.assigned[row]:
        return DECISIONS[int(matches.decision[row])]
    for side, mine, other, network in (
        ("left", matches.left == left, matches.right, problem.right),
        ("right", matches.right == right, matches.left, problem.left),
    ):
        taken = np.flatnonzero(mine & matches.assigned)
        if len(taken):
            return f"no match: the {side} account is assigned to {network.name(int(other[taken[0]]))}"
    return "no match"
