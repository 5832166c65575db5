"""Why a pair: the steps of the evidence waterfall, and both ego networks with matched neighbours joined.

With kedge's own methods the steps add up to the pair's log-odds. Other methods leave no such terms; then the anchored
neighbours that the two accounts share are shown, with the weight of Adamic and Adar: rare neighbours count more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from kedge.evidence import Term, terms
from kedge.review.data import ReviewData
from kedge.review.responses import Account, Ego, EgoSide, Evidence, Neighbour, NeighbourStep, SumStep
from kedge.types import Network

_STEPS: Final = 8  # bars of single neighbours; the others are summed
_JOINED: Final = 12  # matched neighbour pairs drawn
_ALONE: Final = 10  # other neighbours drawn on each side
_LEAST_BELIEF: Final = 0.05  # weaker matches of neighbours would only clutter the drawing
_Kind = Literal["other", "missing_left", "missing_right", "profile"]


def account(network: Network, number: int) -> Account:
    """An account as JSON: its number, the user's id, its number of neighbours."""
    return {"account": int(number), "id": network.name(number), "degree": int(network.degrees[number])}


@dataclass(frozen=True)
class PairTerms:
    """The terms of one pair, largest first, whether they are log-odds that add up, and what the vectors add."""

    additive: bool
    terms: list[Term]
    vectors: float = 0.0


def pair_terms(data: ReviewData, left: int, right: int) -> PairTerms:
    """The evidence for and against a pair."""
    if data.evidence is not None:
        prior = data.evidence.prior
        vectors = 0.0 if prior is None else float(prior[left, right])
        return PairTerms(True, terms(data.problem, data.evidence, left, right), vectors)
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
    """The steps from nothing to the pair's total: single neighbours, the rest of them, and what is missing."""
    hits = [term for term in found.terms if term.a >= 0 and term.b >= 0]
    steps: list[NeighbourStep | SumStep] = [_step(data, term) for term in hits[:_STEPS]]
    sums: tuple[tuple[_Kind, list[Term]], ...] = (
        ("other", hits[_STEPS:]),
        ("missing_right", [term for term in found.terms if term.a >= 0 and term.b < 0]),
        ("missing_left", [term for term in found.terms if term.a < 0 and term.b >= 0]),
        ("profile", [term for term in found.terms if term.a < 0 and term.b < 0]),
    )
    for kind, members in sums:
        if members:
            weight = sum(term.weight for term in members)
            steps.append({"kind": kind, "count": len(members), "weight": round(weight, 4)})
    if found.vectors:
        steps.append({"kind": "vectors", "count": 1, "weight": round(found.vectors, 4)})
    return {
        "unit": "log-odds" if found.additive else "shared anchors",
        "steps": steps,
        "total": round(found.vectors + sum(term.weight for term in found.terms), 4),
        "reordered": data.reordered,
    }


def _step(data: ReviewData, term: Term) -> NeighbourStep:
    return {"kind": "neighbour", **_neighbour(data, term), "weight": round(term.weight, 4)}


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

    Each neighbour is joined at most once, the largest weights first. `edges` are pairs of places in [*joined, *alone]
    of that side; `more` counts what is not drawn. `by_name` hides which of the joined weighs more.
    """
    joined: list[Term] = []
    seen: tuple[set[int], set[int]] = (set(), set())
    for term in found.terms:
        strong = term.a >= 0 and term.b >= 0 and term.belief >= _LEAST_BELIEF
        if strong and term.a not in seen[0] and term.b not in seen[1]:
            joined.append(term)
            seen[0].add(term.a)
            seen[1].add(term.b)
    shown = joined[:_JOINED]
    if by_name:
        shown.sort(key=lambda term: data.problem.left.name(term.a))
    sides: list[EgoSide] = []
    for side, (network, centre) in enumerate(((data.problem.left, left), (data.problem.right, right))):
        others = _neighbours(network, centre)
        free = others[~np.isin(others, list(seen[side]))]
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
