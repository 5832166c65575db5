"""An explanation as three named steps, for text, pictures and pages: evidence, rivals, counterpart.

Each step is a list of lines whose numbers, as they are shown, add up to its result. Every face shows the same lines.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from kedge.decide.explanation import Explanation, Reason
from kedge.profiles import FieldOfPair

EVIDENCE: Final = "Evidence for this pair"
RIVALS: Final = "Rivals: who the left account is, if it has a counterpart"
COUNTERPART: Final = "Counterpart"
LOG_ODDS_DIGITS: Final = 2
SHARE_DIGITS: Final = 3
_LONGEST: Final = 60  # characters of a profile's value in a line
MOST: Final = 10  # neighbours for the pair with a line of their own, and as many against it


@dataclass(frozen=True)
class Name:
    """An account's id, or a value of its profile: other people's text, which each face writes in its own safe way."""

    id: str


Words: TypeAlias = tuple[str | Name, ...]


@dataclass(frozen=True)
class Line:
    """What it is, and its number as it is shown; `neighbours` counts the neighbours that it stands for."""

    words: Words
    value: float
    neighbours: int = 0


def evidence_lines(explanation: Explanation, most: int = MOST) -> list[Line]:
    """Step 1: what each part adds to the log-odds, rounded so that the lines add up to the rounded log-odds.

    At most `most` neighbours for the pair and as many against it have lines of their own; the rest is one line each.
    """
    e = explanation
    lines = [Line(("number of neighbours on either side",), e.prior)] if e.prior else []
    lines += [Line((f"{e.beside} of the two accounts",), e.vectors)] if e.vectors else []
    lines += [Line(field_words(field), field.weight) for field in e.fields if field.weight]
    for reasons, what, order in ((e.hits, "for", 1), (e.misses, "against", -1)):
        ranked = sorted(reasons, key=lambda r: -abs(r.weight))
        shown, rest = sorted(ranked[:most], key=lambda r: -order * r.weight), ranked[most:]
        lines += [Line(_named(r), r.weight, 1) for r in shown]
        if rest:
            words = f"and {len(rest)} more {what} the pair, together"
            lines.append(Line((words,), sum(r.weight for r in rest), len(rest)))
    values = add_up([line.value for line in lines], e.log_odds or 0.0, LOG_ODDS_DIGITS)
    return [Line(line.words, value, line.neighbours) for line, value in zip(lines, values, strict=True)]


def field_words(field: FieldOfPair) -> Words:
    """A field that both accounts have: both values and their similarity."""
    same = "equal" if field.equal else f"similarity {field.similarity or 0.0:.2f}"
    return (f"{spelled(field.name)}, {same}: ", Name(cut(field.left or "")), " ~ ", Name(cut(field.right or "")))


def cut(text: str, most: int = _LONGEST) -> str:
    """A value fit for a line; a long one by its beginning."""
    return text if len(text) <= most else text[: most - 1] + "…"


def rival_lines(explanation: Explanation) -> list[Line]:
    """Step 2: who the left account is, given that it has a counterpart; as shown, the lines add up to 1.

    They may add up to more where probabilities are estimated for the right accounts; `lead_words` then states it.
    """
    e, c = explanation, explanation.competition
    if c is None:
        return []
    lines = [Line((Name(e.right), f", this pair (score {_short(e.score or 0.0)})"), c.given_counterpart)]
    if e.runner_up:
        second = (Name(e.runner_up.right), f", the runner-up (score {_short(e.runner_up.score)})")
        lines.append(Line(second, e.runner_up.given_counterpart))
    if c.others:
        words = f"{c.others} other candidate{'s' if c.others > 1 else ''}, together"
        lines.append(Line((words,), c.others_given_counterpart))
    lines = [Line(line.words, round(line.value, SHARE_DIGITS)) for line in lines]
    rest = round(1 - sum(line.value for line in lines), SHARE_DIGITS)
    return [*lines, Line(("none of these",), rest)] if rest >= 0 else lines


def lead_words(explanation: Explanation) -> list[Words]:
    """Step 2: how clearly the pair leads over other candidates of either account."""
    c = explanation.competition
    found: list[Words] = []
    for lead in c.leads if c else ():
        words = f"score {_short(abs(lead.lead))} {'above' if lead.lead >= 0 else 'below'} "
        found.append((words, Name(lead.rival), f", the {lead.side} account's best other candidate"))
    if sum(line.value for line in rival_lines(explanation)) > 1 + 2 * 10**-SHARE_DIGITS:
        found.append(("together more than 1: each share was estimated among the rivals for its right account",))
    return found


def counterpart_words(explanation: Explanation) -> list[Words]:
    """Step 3: from the share among the candidates to the probability, in numbers and in words; of candidates only."""
    e = explanation
    if e.competition is None:
        return []
    numbers = (e.competition.given_counterpart, e.counterpart or 0.0, e.probability or 0.0)
    product = "{} × {} = {}".format(*(f"{number:.{SHARE_DIGITS}f}" for number in numbers))
    return [(product,), ("P(right, if the left account has a counterpart) × P(it has a counterpart) = probability",)]


def add_up(values: Sequence[float], total: float, digits: int) -> list[float]:
    """The values rounded, each up or down, so that they add up to the rounded total (largest remainders go up)."""
    scaled = np.asarray(values, np.float64) * 10**digits
    floors = np.floor(scaled)
    up = round(round(total, digits) * 10**digits) - int(floors.sum())
    floors[np.argsort(floors - scaled, kind="stable")[: max(up, 0)]] += 1
    return [round(float(value) / 10**digits, digits) + 0.0 for value in floors]  # no -0.0


def _named(reason: Reason) -> Words:
    belief = f" (belief {reason.belief:.2f})"
    if reason.left is not None and reason.right is not None:
        return (Name(reason.left), " = ", Name(reason.right), belief)
    alone = Name(reason.left if reason.left is not None else reason.right or "")
    return ("the match of ", alone, " is a neighbour too" if reason.weight >= 0 else " is no neighbour", belief)


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain JSON values; `steps` has the three steps by name."""
    e, c = explanation, explanation.competition
    profiles = sum(field.weight for field in e.fields)
    parts = {"prior": e.prior, "vectors": e.vectors, "profiles": profiles}
    neighbours = None if e.log_odds is None else e.log_odds - sum(parts.values())
    steps = [
        {"name": "evidence", "neighbours": neighbours, **parts, "log_odds": e.log_odds},
        {"name": "rivals", "score": e.score, "given_counterpart": c and c.given_counterpart},
        {"name": "counterpart", "counterpart": e.counterpart, "probability": e.probability},
    ]
    return {**asdict(e), "steps": steps}


def spelled(name: str) -> str:
    """An id fit for one line: what is not printable is spelled out, but for the joiners that are letters."""
    return "".join(c if c.isprintable() or c in "\u200c\u200d" else repr(c)[1:-1] for c in name)


def isolated(name: str) -> str:
    """The id fit for one line, with no effect on the order of what is around it, if its letters run from the right."""
    text = spelled(name)
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in text):
        return f"\u2068{text}\u2069"
    return text


def plain(words: Words) -> str:
    """The words as text."""
    return "".join(word if isinstance(word, str) else isolated(word.id) for word in words)


def as_text(explanation: Explanation, most: int = MOST, width: int = 24) -> str:
    """The explanation for people: the decision, then the three steps. Names are last in a line: they may be long."""
    e = explanation
    left, right = isolated(e.left), isolated(e.right)
    decided = "" if e.probability is None else f": probability {e.probability:.{SHARE_DIGITS}f}, rank {e.rank}"
    lines = [f"{left}  =  {right} ?", f"  {isolated(e.verdict)}{decided}", "", f"  1. {EVIDENCE}"]
    parts = evidence_lines(e, most)
    if e.log_odds is None:
        lines.append("     not known of single neighbours" + score_words(e))
    elif parts:
        total = Line(("total log-odds" + score_words(e),), round(e.log_odds, LOG_ODDS_DIGITS))
        lines += _bars([*parts, total], width, "+", LOG_ODDS_DIGITS)
    else:
        lines.append("     no matched neighbour is evidence for or against the pair")
    if e.similarity is not None:
        lines.append(f"     similarity of the vectors {e.similarity:.3f}")
    if e.competition is not None:
        lines += ["", f"  2. {RIVALS}"]
        lines += _bars(rival_lines(e), width, "", SHARE_DIGITS)
        lines += [f"     {plain(words)}" for words in lead_words(e)]
        lines += ["", f"  3. {COUNTERPART}", *(f"     {plain(words)}" for words in counterpart_words(e))]
    else:
        lines += ["", *_elsewhere(e)] if e.runner_up or e.rival else []
    lines += [f"  note: {isolated(note)}" for note in e.notes]
    return "\n".join(lines) + "\n"


def _elsewhere(e: Explanation) -> list[str]:
    """Of a pair without probability: the best candidates of its accounts."""
    lines = []
    if e.runner_up:
        best, p = isolated(e.runner_up.right), e.runner_up.probability
        lines.append(f"  best candidate for {isolated(e.left)}: {best} ({p:.{SHARE_DIGITS}f})")
    if e.rival:
        best, p = isolated(e.rival.left), e.rival.probability
        lines.append(f"  best candidate for {isolated(e.right)}: {best} ({p:.{SHARE_DIGITS}f})")
    if e.counterpart is not None:
        lines.append(f"  probability that {isolated(e.left)} has a counterpart: {e.counterpart:.{SHARE_DIGITS}f}")
    return lines


def score_words(e: Explanation) -> str:
    """The score where it is another number than the log-odds."""
    differs = e.score is not None and (e.log_odds is None or abs(e.score - e.log_odds) >= 0.5 * 10**-LOG_ODDS_DIGITS)
    return f"; score {_short(e.score or 0.0)}" if differs else ""


def _short(score: float) -> str:
    """A score or a difference of two: methods have scales of their own, so small ones have more digits."""
    return f"{score:.{LOG_ODDS_DIGITS}f}" if abs(score) >= 0.1 or score == 0 else f"{score:.2g}"


def _bars(lines: Sequence[Line], width: int, sign: str, digits: int) -> list[str]:
    """The number, a bar in proportion to the largest, the words."""
    largest = max(abs(line.value) for line in lines) or 1.0
    shown = []
    for line in lines:
        bar = ("-" if line.value < 0 else "+" if sign else "#") * round(abs(line.value) / largest * width)
        shown.append(f"    {line.value:{sign}9.{digits}f}  {bar:<{width}}  {plain(line.words)}")
    return shown
