"""Both profiles of a pair, field by field, with the parts marked that the two values have in common."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from typing import Final

from kedge.profiles import FieldOfPair
from kedge.review.responses import FieldRow, Piece

_WORD: Final = re.compile(r"\w+")
_SPELLED: Final = ("handle",)  # kinds whose words are compared letter by letter
_WORDED: Final = ("handle", "text", "tokens", "url", "category")  # kinds whose values have words
_LETTERS: Final = 3  # letters in a row that are marked, at least
_LONGEST: Final = 300  # characters that are compared letter by letter: the time grows with their square


def field_rows(fields: tuple[FieldOfPair, ...], blind: bool) -> list[FieldRow]:
    """What either account has in each field that one of them has; blind: without the similarity."""
    rows: list[FieldRow] = []
    for field in fields:
        if field.left is None and field.right is None:
            continue
        left, right = _marked(field, field.equal)
        rows.append(
            {
                "name": field.name,
                "kind": field.kind,
                "left": left,
                "right": right,
                "equal": field.equal,
                "similarity": None if blind or field.similarity is None else round(field.similarity, 4),
            }
        )
    return rows


def _marked(field: FieldOfPair, equal: bool) -> tuple[list[Piece] | None, list[Piece] | None]:
    one, other = field.left, field.right
    if one is None or other is None or equal or field.kind not in _WORDED:
        return _whole(one, equal), _whole(other, equal)
    words = [{_folded(word) for word in _WORD.findall(text)} for text in (one, other)]
    common = words[0] & words[1]
    marks = [
        [span for word in _WORD.finditer(text) for span in [word.span()] if _folded(word[0]) in common]
        for text in (one, other)
    ]
    if not common and field.kind in _SPELLED:
        letters = _letters(one[:_LONGEST]), _letters(other[:_LONGEST])
        found = SequenceMatcher(None, letters[0], letters[1], autojunk=False).get_matching_blocks()
        blocks = [block for block in found if block.size >= _LETTERS]
        marks = [[(b.a, b.a + b.size) for b in blocks], [(b.b, b.b + b.size) for b in blocks]]
    return _cut(one, marks[0]), _cut(other, marks[1])


def _whole(text: str | None, equal: bool) -> list[Piece] | None:
    return None if text is None else [{"text": text, "equal": equal}]


def _cut(text: str, marks: list[tuple[int, int]]) -> list[Piece]:
    """The text in pieces, those of the marks equal."""
    pieces: list[Piece] = []
    at = 0
    for begin, end in marks:
        pieces += [{"text": text[at:begin], "equal": False}, {"text": text[begin:end], "equal": True}]
        at = end
    pieces.append({"text": text[at:], "equal": False})
    return [piece for piece in pieces if piece["text"]]


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold()


def _letters(text: str) -> list[str]:
    """One folded letter for each character, so that places stay the same."""
    return [_folded(letter) or letter for letter in text]
