"""The evidence for and against a pair, also one that is no match: a waterfall in log-odds.

    prior + vectors + Σ hits (matched neighbours, for the pair) + Σ misses (neighbours, against it) = log-odds

Explanations are plain data; `as_text` and `as_dict` render them for people and for machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from kedge.evidence import Term
from kedge.types import DECISIONS, Matches, Problem


class PairEvidence(NamedTuple):
    """What is known of one pair: terms of single neighbours (-1: no neighbour, so a miss), the degree prior and the
    prior from vectors, which add up to the log-odds; and the cosine of its vectors, None without vectors."""

    terms: Sequence[Term] = ()
    prior: float = 0.0
    vectors: float = 0.0
    similarity: float | None = None


@dataclass(frozen=True)
class Reason:
    """One step of the waterfall: the two neighbours (None: a miss), the belief in them, and what they add."""

    left: str | None
    right: str | None
    belief: float
    weight: float


@dataclass(frozen=True)
class Candidate:
    """Another candidate that competes with the explained pair."""

    left: str
    right: str
    score: float
    probability: float
    decision: str


@dataclass(frozen=True)
class Explanation:
    """One pair explained. `log_odds` is prior + vectors + hits + misses; None: not known of this pair.

    `runner_up` is the left account's best other candidate, `rival` the right account's.
    `verdict` is the decision in words.
    """

    left: str
    right: str
    verdict: str
    prior: float
    hits: tuple[Reason, ...]
    misses: tuple[Reason, ...]
    log_odds: float
    similarity: float | None
    score: float | None
    probability: float | None
    counterpart: float | None
    rank: int | None
    decision: str | None
    runner_up: Candidate | None
    rival: Candidate | None
    notes: tuple[str, ...] = ()
    vectors: float = 0.0


def explain(
    problem: Problem, matches: Matches, pair: tuple[int, int], evidence: PairEvidence, notes: tuple[str, ...] = ()
) -> Explanation:
    """Explain the pair (left, right), whether or not it is among the matches."""
    left, right = pair
    terms = sorted(evidence.terms, key=lambda t: (-t.weight, t.a, t.b))
    reasons = [(t.a >= 0 and t.b >= 0, _reason(problem, t)) for t in terms]
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
        log_odds=float(evidence.prior) + float(evidence.vectors) + sum(reason.weight for _, reason in reasons),
        similarity=None if evidence.similarity is None else float(evidence.similarity),
        counterpart=float(matches.counterpart[np.argmax(of_left)]) if of_left.any() else None,
        **_row(matches, row),
        runner_up=_best(matches, np.flatnonzero(of_left & ~of_right)),
        rival=_best(matches, np.flatnonzero(of_right & ~of_left)),
        notes=notes,
    )


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


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain JSON values."""
    return asdict(explanation)


def _plain(name: str) -> str:
    """An id fit for one line of a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def as_text(explanation: Explanation, most: int = 10, width: int = 24) -> str:
    """The explanation for people: the decision, then the waterfall, strongest steps first.

    At most `most` hits and misses each are listed; the rest is summed up in one line, so the steps still add up.
    """
    e = explanation
    lines = [f"{_plain(e.left)}  =  {_plain(e.right)} ?", f"  {_plain(e.verdict)}"]
    if e.probability is not None:
        lines.append(f"  probability {e.probability:.3f}, rank {e.rank}, score {e.score:.3f}")
    if e.counterpart is not None:
        lines.append(f"  probability that {_plain(e.left)} has a counterpart at all: {e.counterpart:.3f}")
    if e.similarity is not None:
        lines.append(f"  similarity {e.similarity:.3f}")
    steps = steps_of(e, most)
    if steps:
        lines += ["", "  evidence (log-odds)", *_waterfall([*steps, ("total", e.log_odds)], width)]
    else:
        lines += ["", "  no matched neighbour is evidence for or against the pair"]
    if e.runner_up or e.rival:
        lines.append("")
    if e.runner_up:
        lines.append(f"  runner-up for {_plain(e.left)}: {_plain(e.runner_up.right)} ({e.runner_up.probability:.3f})")
    if e.rival:
        lines.append(f"  rival for {_plain(e.right)}: {_plain(e.rival.left)} ({e.rival.probability:.3f})")
    lines += [f"  note: {_plain(note)}" for note in e.notes]
    return "\n".join(lines) + "\n"


def steps_of(explanation: Explanation, most: int = 10) -> list[tuple[str, float]]:
    """The steps of the waterfall: what each is, and what it adds; they sum to the log-odds.

    At most `most` hits and misses are steps of their own; the rest is summed up in one step.
    """
    e = explanation
    steps = [("number of neighbours on either side", e.prior)] if e.prior else []
    steps += [("vectors of the two accounts", e.vectors)] if e.vectors else []
    for reasons, what, order in ((e.hits, "matched neighbours", 1), (e.misses, "neighbours without match", -1)):
        ranked = sorted(reasons, key=lambda r: -abs(r.weight))
        shown = sorted(ranked[:most], key=lambda r: -order * r.weight)
        steps += [(_name(r), r.weight) for r in shown]
        if ranked[most:]:
            steps.append((f"{len(ranked) - most} more {what}", sum(r.weight for r in ranked[most:])))
    return steps


def _name(reason: Reason) -> str:
    if reason.left is None:
        return f"the match of {_plain(reason.right or '')} is no neighbour (belief {reason.belief:.2f})"
    if reason.right is None:
        return f"the match of {_plain(reason.left)} is no neighbour (belief {reason.belief:.2f})"
    return f"{_plain(reason.left)} = {_plain(reason.right)} (belief {reason.belief:.2f})"


def _waterfall(steps: Sequence[tuple[str, float]], width: int) -> list[str]:
    """One line per step: name, what it adds, and a bar in proportion to the largest."""
    label = max(len(name) for name, _ in steps)
    largest = max(abs(value) for _, value in steps) or 1.0
    lines = []
    for name, value in steps:
        bar = ("+" if value >= 0 else "-") * round(abs(value) / largest * width)
        lines.append(f"    {name:<{label}} {value:+9.3f} {bar}".rstrip())
    return lines
