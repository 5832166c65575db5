"""Why a pair: the way from its evidence to its probability, and both ego networks with matched neighbours joined.

The drawing and the waterfall name the same neighbours, each once. With kedge's own methods the steps add up to the
pair's log-odds. Other methods leave no such terms; then the anchored neighbours that the two accounts share are shown,
with the weight of Adamic and Adar: rare neighbours count more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from kedge.decide.explanation import Beside, PairEvidence, explain
from kedge.decide.steps import LOG_ODDS_DIGITS as _DIGITS
from kedge.decide.steps import RIVALS, Words, add_up, counterpart_words, lead_words, rival_lines
from kedge.evidence import Term, terms
from kedge.profiles import FieldOfPair
from kedge.review.data import ReviewData
from kedge.review.responses import (
    Account,
    Ego,
    EgoSide,
    Evidence,
    FieldStep,
    Neighbour,
    NeighbourStep,
    Part,
    SumStep,
    Way,
)
from kedge.types import Network

_JOINED: Final = 12  # matched neighbour pairs drawn, each with a bar; the others are summed
_ALONE: Final = 10  # other neighbours drawn on each side
_Kind = Literal["other", "possible", "missing_left", "missing_right", "profile"]


def account(network: Network, number: int) -> Account:
    """An account as JSON: its number, the user's id, its number of neighbours."""
    return {"account": int(number), "id": network.name(number), "degree": int(network.degrees[number])}


@dataclass(frozen=True)
class PairTerms:
    """The terms of one pair, largest first, whether they are log-odds that add up, and what fields and vectors add;
    `beside` as in `PairEvidence`."""

    additive: bool
    terms: list[Term]
    vectors: float = 0.0
    fields: tuple[FieldOfPair, ...] = ()
    beside: Beside = "vectors"


def pair_terms(data: ReviewData, left: int, right: int) -> PairTerms:
    """The evidence for and against a pair."""
    if data.evidence is not None:
        fields, vectors, beside = data.fields.split(data.evidence.prior, (left, right))
        return PairTerms(True, terms(data.problem, data.evidence, left, right), vectors, fields, beside)
    problem = data.problem
    near, far = _neighbours(problem.left, left), set(_neighbours(problem.right, right).tolist())
    found = []
    for a in near.tolist():
        b = int(data.partner[0][a])
        if b in far:
            degree = np.sqrt(float(problem.left.degrees[a]) * float(problem.right.degrees[b]))
            found.append(Term(a, b, 1.0, float(1 / np.log1p(degree))))
    return PairTerms(False, sorted(found, key=lambda term: (-term.weight, term.a, term.b)))


def waterfall(data: ReviewData, found: PairTerms) -> Evidence:
    """The steps from nothing to the pair's total: single neighbours, the rest of them, and what is missing.

    Weights are rounded as they are shown, so that they add up to the total.
    """
    hits = _joined(found)
    alone = [term for term in found.terms if (term.a >= 0) != (term.b >= 0)]
    sums: tuple[tuple[_Kind, list[Term]], ...] = (
        ("other", hits[_JOINED:]),
        ("possible", [term for term in alone if term.weight >= 0]),
        ("missing_right", [term for term in alone if term.a >= 0 and term.weight < 0]),
        ("missing_left", [term for term in alone if term.b >= 0 and term.weight < 0]),
        ("profile", [term for term in found.terms if term.a < 0 and term.b < 0]),
    )
    steps: list[NeighbourStep | FieldStep | SumStep] = [
        {
            "kind": "field",
            "name": field.name,
            "equal": field.equal,
            "similarity": field.similarity,
            "weight": field.weight,
        }
        for field in found.fields
        if field.weight
    ]
    steps += [{"kind": "neighbour", **_neighbour(data, term), "weight": term.weight} for term in hits[:_JOINED]]
    for kind, members in sums:
        if members:
            steps.append({"kind": kind, "count": len(members), "weight": sum(term.weight for term in members)})
    if found.vectors:
        steps.append({"kind": found.beside, "count": 1, "weight": found.vectors})
    total = found.vectors + sum(term.weight for term in found.terms) + sum(field.weight for field in found.fields)
    for step, weight in zip(steps, add_up([step["weight"] or 0.0 for step in steps], total, _DIGITS), strict=True):
        step["weight"] = weight
    return {
        "unit": "log-odds" if found.additive else "shared anchors",
        "steps": steps,
        "total": round(total, _DIGITS),
        "reordered": data.reordered,
    }


def way(data: ReviewData, left: int, right: int) -> Way | None:
    """From the evidence over the rivals and the counterpart to the probability; None where the pair is no candidate."""
    found = explain(data.problem, data.matches, (left, right), PairEvidence(None))
    if found.competition is None:
        return None
    return {
        "title": RIVALS,
        "shares": [{"words": _parts(line.words), "share": line.value} for line in rival_lines(found)],
        "leads": [_parts(words) for words in lead_words(found)],
        "counterpart": [_parts(words) for words in counterpart_words(found)],
    }


def _parts(words: Words) -> list[Part]:
    return [{"text": word, "id": False} if isinstance(word, str) else {"text": word.id, "id": True} for word in words]


def _joined(found: PairTerms) -> list[Term]:
    return [term for term in found.terms if term.a >= 0 and term.b >= 0]


def _neighbour(data: ReviewData, term: Term) -> Neighbour:
    known = bool(data.partner[0][term.a] == term.b)
    return {
        "left": account(data.problem.left, term.a),
        "right": account(data.problem.right, term.b),
        "belief": 1.0 if known else min(round(term.belief, 4), 0.9999),  # only what is known is certain
        "known": known,
    }


def ego_networks(data: ReviewData, left: int, right: int, found: PairTerms, by_name: bool = False) -> Ego:
    """Both accounts with their neighbours: `joined` ones matched with each other, `alone` those that are not.

    `matched` counts all that are joined, drawn or not. `edges` are pairs of places in [*joined, *alone] of that side;
    `more` counts what is not drawn. `by_name` hides which of the joined weighs more.
    """
    joined = _joined(found)
    seen = ([term.a for term in joined], [term.b for term in joined])
    shown = joined[:_JOINED]
    if by_name:
        shown.sort(key=lambda term: data.problem.left.name(term.a))
    sides: list[EgoSide] = []
    for side, (network, centre) in enumerate(((data.problem.left, left), (data.problem.right, right))):
        others = _neighbours(network, centre)
        free = others[~np.isin(others, seen[side])]
        # Those whose partner is known elsewhere are evidence against the pair, so they are shown first.
        elsewhere = data.partner[side][free] >= 0
        order = np.lexsort((free, -network.degrees[free], ~elsewhere))
        alone = free[order][:_ALONE]
        mine = [term.a if side == 0 else term.b for term in shown] + alone.tolist()
        sides.append(
            {
                "alone": [
                    {**account(network, number), "elsewhere": bool(data.partner[side][number] >= 0)} for number in alone
                ],
                "more": int(len(others) - len(mine)),
                "edges": _edges(network, mine),
            }
        )
    return {
        "joined": [_neighbour(data, term) for term in shown],
        "matched": len(joined),
        "left": sides[0],
        "right": sides[1],
    }


def _neighbours(network: Network, number: int) -> Any:
    adjacency = network.adjacency
    return adjacency.indices[adjacency.indptr[number] : adjacency.indptr[number + 1]]


def _edges(network: Network, accounts: list[int]) -> list[Sequence[int]]:
    """The edges among a few accounts, as pairs of their places."""
    place = {number: i for i, number in enumerate(accounts)}
    wanted = np.array(accounts, np.int64)
    return [
        (i, place[other])
        for i, number in enumerate(accounts)
        for other in np.intersect1d(_neighbours(network, number), wanted).tolist()
        if place[other] > i
    ]
