"""HTML and SVG by function calls: all text is escaped.

Why no template language: account ids are other people's text, and here the type checker makes sure that only `Markup`
made by `tag` reaches the page unescaped.
"""

from __future__ import annotations

import html
import json
import unicodedata
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final, TypeAlias

_LONGEST: Final = 240
_BRIEF: Final = 60  # letters of an id in a table
# Zero-width joiners are letters of some scripts; these others only hide or reorder what the reader sees.
_INVISIBLE: Final = frozenset("\u061c\u200b\u200e\u200f\u2060\ufeff") | {
    chr(c) for c in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080))
}
_VOID: Final = frozenset({"meta", "link", "input", "br"})


@dataclass(frozen=True)
class Markup:
    """Finished HTML or SVG; made by `tag`, never from a string that came from outside."""

    html: str


Child: TypeAlias = Markup | str | None


def number(value: float) -> str:
    """A coordinate, short: 12.0 is 12, 3.14159 is 3.1."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text not in ("-0.0", "0.0") else "0"


def _escape(child: Child) -> str:
    return "" if child is None else child.html if isinstance(child, Markup) else html.escape(child)


def join(*children: Child) -> Markup:
    """One after the other."""
    return Markup("".join(map(_escape, children)))


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element; `class_` is class, `data_tip` is data-tip, None and False leave an attribute out."""
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        plain = key.removesuffix("_").replace("_", "-")
        shown = value if isinstance(value, str) else "" if value is True else number(value)
        words.append(f'{plain}="{html.escape(shown)}"')
    opened = f"<{' '.join(words)}>"
    return Markup(opened if name in _VOID else f"{opened}{''.join(map(_escape, children))}</{name}>")


def _visible(character: str) -> str:
    if character in _INVISIBLE or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return f"[U+{ord(character):04X}]"
    return character


def name_of(identifier: str) -> Markup:
    """An account id or file name as text: its direction cannot leak out, and nothing in it stays hidden.

    One that is longer than any screen is cut, and the number of letters that are missing is there.
    """
    return tag("bdi", _spelled(identifier))


def _spelled(identifier: str) -> str:
    missing = len(identifier) - _LONGEST
    more = f"… (and {missing:,} more letters)" if missing > 0 else ""
    return "".join(map(_visible, identifier[:_LONGEST])) + more


def brief_of(identifier: str) -> Markup:
    """An account id in a table: of a long one the middle is cut out, since the last letters of long ids often differ.

    The whole of it is what a pointer on it shows.
    """
    if len(identifier) <= _BRIEF:
        return name_of(identifier)
    tail = _BRIEF // 3
    shown = [name_of(part) for part in (identifier[: _BRIEF - 1 - tail], identifier[-tail:])]
    return tag("span", shown[0], "…", shown[1], title=_spelled(identifier))


def data_block(identity: str, value: Any) -> Markup:
    """JSON for the page's own script; `<`, `>` and `&` are written as escapes, so no text can end the block."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{html.escape(identity)}">{text}</script>')


def raw_style_or_script(name: str, text: str) -> Markup:
    """Our own style sheet or script, as it is: inside these two elements nothing is unescaped by the browser."""
    if f"</{name}" in text.lower():
        raise ValueError(f"a {name} may not hold its own end tag")
    return Markup(f"<{name}>{text}</{name}>")


def static(name: str) -> str:
    """One of our own style or script files."""
    return resources.files("kedge.report").joinpath("static", name).read_text("utf-8")
