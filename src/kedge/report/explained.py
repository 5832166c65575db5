"""One pair explained in three steps: as a picture of its own (SVG), and as a card of the page."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from kedge.decide import steps
from kedge.decide.explanation import Explanation
from kedge.decide.steps import Line, Name, Words
from kedge.report.markup import Child, Markup, brief_of, join, number, tag

_VALUE: Final = 92  # right end of the numbers
_BARS: Final = (108, 388)
_WORDS: Final = 404
_WIDTH: Final = 880
_LETTER: Final = 7.3  # width of a letter of 12 px in a monospaced font; SVG breaks no lines by itself
_COLUMNS: Final = int((_WIDTH - 14 - _WORDS) / _LETTER)
_LINE: Final = 17
# Okabe and Ito's blue and vermilion, which most colour-blind people can distinguish.
_FOR, _AGAINST, _TOTAL, _SOFT = "#0072b2", "#d55e00", "#333333", "#666666"
_Bar = tuple[float, float]  # begin and end, as shares of the width


class _Step(NamedTuple):
    """Title, lines with their bars, and what is written below them; `adds`: log-odds, whose last line is their sum."""

    title: Words
    lines: list[Line]
    bars: list[_Bar]
    below: list[Words]
    adds: bool = False


def explanation_svg(explanation: Explanation) -> str:
    """An SVG file: the three steps one below the other, ids whole, each line with its number and its bar."""
    e = explanation
    page = _Page()
    page.write((Name(e.left), " = ", Name(e.right), " ?"), size=15, weight=600)
    decided = "" if e.probability is None else f": probability {e.probability:.{steps.SHARE_DIGITS}f}, rank {e.rank}"
    page.write((steps.isolated(e.verdict) + decided,))
    for step in _steps(e):
        page.y += 10
        page.write(step.title, weight=600)
        for line, bar in zip(step.lines, step.bars, strict=True):
            page.row(line, bar, total=step.adds and line is step.lines[-1], signed=step.adds)
        for words in step.below:
            page.write(words, colour=_SOFT)
    page.y += 10 if e.notes else 0
    for note in e.notes:
        page.write((f"note: {steps.isolated(note)}",), colour=_SOFT)
    height = page.y + 12
    return tag(
        "svg",
        tag("title", steps.plain((Name(e.left), " = ", Name(e.right), " ?"))),
        tag("rect", x=0, y=0, width=_WIDTH, height=height, fill="#ffffff"),
        *page.parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        height=height,
        role="img",
        font_family="ui-monospace, 'DejaVu Sans Mono', monospace",
    ).html


def explanation_card(title: str, explanation: Explanation) -> Markup:
    """The same as a card of the report."""
    e = explanation
    parts: list[Child] = [tag("h3", title), tag("p", _html((Name(e.left), " = ", Name(e.right))), class_="under")]
    for step in _steps(e):
        rows = [
            tag(
                "tr",
                tag("td", _shown(line, step.adds)),
                tag("td", _bar(bar, line.value), class_="optional"),
                tag("th", _html(line.words), scope="row"),
                class_="rule" if step.adds and line is step.lines[-1] else None,
            )
            for line, bar in zip(step.lines, step.bars, strict=True)
        ]
        table = tag("table", tag("tbody", *rows), class_="steps", aria_label=steps.plain(step.title)) if rows else None
        below = (tag("p", _html(words), class_="under") for words in step.below)
        parts += [tag("h4", _html(step.title)), table, *below]
    return tag("div", *parts, class_="card explained")


def _steps(e: Explanation) -> list[_Step]:
    """The steps that this pair has."""
    parts = steps.evidence_lines(e)
    below: list[Words] = []
    if e.log_odds is None:
        below.append(("not known of single neighbours" + steps.score_words(e),))
    elif not parts:
        below.append(("no matched neighbour is evidence for or against the pair",))
    else:
        total = round(e.log_odds, steps.LOG_ODDS_DIGITS)
        parts = [*parts, Line(("total log-odds" + steps.score_words(e),), total)]
    if e.similarity is not None:
        below.append((f"similarity of the vectors {e.similarity:.3f}",))
    found = [_Step((f"1. {steps.EVIDENCE}",), parts, _falls([line.value for line in parts]), below, adds=True)]
    if e.competition is not None:
        shares = steps.rival_lines(e)
        bars = [(0.0, min(line.value, 1.0)) for line in shares]
        found.append(_Step((f"2. {steps.RIVALS}",), shares, bars, steps.lead_words(e)))
        found.append(_Step((f"3. {steps.COUNTERPART}",), [], [], list(steps.counterpart_words(e))))
    return found


def _falls(values: Sequence[float]) -> list[_Bar]:
    """Each bar begins where the one before ended; the last is the total, from zero."""
    if not values:
        return []
    reach = [0.0]
    for value in values[:-1]:
        reach.append(reach[-1] + value)
    low, span = min(reach), (max(reach) - min(reach)) or 1.0
    ends = [*pairwise(reach), (0.0, values[-1])]
    return [((min(end) - low) / span, (max(end) - low) / span) for end in ends]


def _shown(line: Line, signed: bool) -> str:
    return f"{line.value:+.{steps.LOG_ODDS_DIGITS}f}" if signed else f"{line.value:.{steps.SHARE_DIGITS}f}"


def _html(words: Words) -> Markup:
    return join(*(word if isinstance(word, str) else tag("span", brief_of(word.id), class_="id") for word in words))


def _bar(bar: _Bar, value: float) -> Markup:
    box = {"x": number(100 * bar[0]), "width": number(max(100 * (bar[1] - bar[0]), 0.8)), "y": "0", "height": "7"}
    drawn = tag("rect", class_=f"bar {'match' if value >= 0 else 'bad'}", **box)
    stretched = {"viewBox": "0 0 100 7", "preserveAspectRatio": "none"}
    return tag("svg", drawn, class_="meter", **stretched, aria_hidden="true")


class _Page:
    """A column of rows that grows downwards: SVG has no layout of its own."""

    def __init__(self) -> None:
        self.y = 16
        self.parts: list[Markup] = []

    def write(self, words: Words, size: int = 12, weight: int = 400, colour: str = _TOTAL) -> None:
        """Words over the whole width, in as many lines as they need."""
        for text in wrap(words, int((_WIDTH - 28) / (_LETTER * size / 12))):
            self.y += _LINE + (size - 12)
            self.parts.append(tag("text", text, x=14, y=self.y - 4, font_size=size, font_weight=weight, fill=colour))

    def row(self, line: Line, bar: _Bar, *, total: bool, signed: bool) -> None:
        """Number, bar, words."""
        low, wide = _BARS[0], _BARS[1] - _BARS[0]
        colour = _TOTAL if total else _FOR if line.value >= 0 else _AGAINST
        at = self.y + _LINE - 4
        box = {"x": number(low + wide * bar[0]), "width": number(max(wide * (bar[1] - bar[0]), 1.5))}
        self.parts += [
            tag("text", _shown(line, signed), x=_VALUE, y=at, text_anchor="end", font_size=12, fill=_TOTAL),
            tag("rect", **box, y=self.y + 3, height=_LINE - 5, fill=colour),
        ]
        for text in wrap(line.words, _COLUMNS):
            self.y += _LINE
            self.parts.append(tag("text", text, x=_WORDS, y=self.y - 4, font_size=12, fill=_TOTAL))
        self.y += 3


def wrap(words: Words, columns: int) -> list[str]:
    """The words in lines of at most so many columns; an id that is longer goes on in the next line, whole."""
    lines, used = [""], 0
    for word in words:
        pieces = word.replace(" ", " \0").split("\0") if isinstance(word, str) else [steps.spelled(word.id)]
        for piece in pieces:
            if used and used + _columns(piece.rstrip()) > columns:
                lines, used = [*lines, ""], 0
            for chunk in _chunks(piece, columns):
                if used and used + _columns(chunk.rstrip()) > columns:
                    lines, used = [*lines, ""], 0
                lines[-1] += chunk if isinstance(word, str) else steps.isolated(chunk)
                used += _columns(chunk)
    return [line.rstrip() for line in lines]


def _columns(text: str) -> int:
    """Widths in columns: letters of East Asian scripts take two, marks on other letters none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _chunks(text: str, columns: int) -> list[str]:
    """The text cut into pieces of at most so many columns."""
    pieces = [""]
    for c in text:
        if pieces[-1] and _columns(pieces[-1]) + _columns(c) > columns:
            pieces.append("")
        pieces[-1] += c
    return pieces
