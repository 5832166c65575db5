"""Pseudonyms: a keyed hash of an id or of a value, equal where the values are equal in their stated form.

HMAC-SHA256, the first 128 bits in hex (decision 44). Ids are hashed as they are compared everywhere in kedge: exactly,
spaces around them aside. Values of profiles take a form first, so that both sides hash equal things equally.
"""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from kedge.errors import KedgeError

LENGTH: Final = 32  # hex signs. n distinct values collide with a chance below n^2 / 2^129: 1.5e-21 for a billion
_SCHEME: Final = b"kedge-pseudonym-1:"  # a change of form or length needs another one
_NAMES: Final = {"email": "email", "mail": "email", "phone": "phone", "telephone": "phone", "mobile": "phone"}
_EXPECTED: Final = {
    "email": ("@", "@"),
    "phone": ("+", "country code: they equal numbers that are written without one too"),
}


def fold_text(text: str) -> str:
    """NFKC, case folded, without characters that are not shown (Cf), each run of spaces one: until nothing changes."""
    while (folded := _fold_once(text)) != text:
        text = folded
    return text


def _fold_once(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(sign for sign in folded if unicodedata.category(sign) != "Cf").split())


def fold_email(text: str) -> str:
    """As text, without any space and without `mailto:`; dots and what follows a + stay, as providers differ in them."""
    while (folded := fold_text("".join(text.split())).removeprefix("mailto:")) != text:
        text = folded
    return text


def fold_phone(text: str) -> str:
    """Decimal digits alone, with + in front where the number begins with + or 00; behind that, `(0)` is dropped.

    A value without any digit is no number: empty.
    """
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in plain)
    if abroad := re.match(r"\D*?\+|\D*0\D*0", plain):
        plain = re.sub(r"\(\s*0\s*\)", "", plain[abroad.end() :])
    digits = re.sub("[^0-9]", "", plain)
    return f"+{digits}" if abroad and digits else digits


# What may be written after a field: --fields contact:email.
FORMS: Final[dict[str, Callable[[str], str]]] = {"text": fold_text, "email": fold_email, "phone": fold_phone}


def form_of(name: str) -> str:
    """The form of a field by the name of its column: email, phone, else text."""
    return _NAMES.get(re.sub(r"[\W_]", "", name.casefold()), "text")


def pseudonyms(values: Iterable[str], form: str, key: bytes, length: int = LENGTH) -> list[str | None]:
    """A pseudonym for each value: an id (form `id`, exactly), or a field in one of `FORMS`; empty stays empty.

    The form, and not the name of the column, is part of what is hashed: a handle and a screen name can be compared.
    """
    folded = list(values) if form == "id" else [FORMS[form](text) for text in values]
    begin = _SCHEME + form.encode() + b"\0"
    found = {
        text: hmac.digest(key, begin + text.encode(), "sha256").hex()[:length] for text in dict.fromkeys(folded) if text
    }
    if len(set(found.values())) < len(found):
        raise KedgeError("two values have one pseudonym", remedy="make another key with --new-key")
    return [found.get(text) for text in folded]


def doubt(values: Iterable[str], form: str, name: str) -> str | None:
    """A note on values that hardly have the form of their field, or that the other side may write otherwise."""
    if form not in _EXPECTED:
        return None
    sign, problem = _EXPECTED[form]
    folded = [text for text in map(FORMS[form], values) if text]
    few = sum(sign not in text for text in folded)
    return f"{few:,} of {len(folded):,} distinct values of {name!r} have no {problem}" if few else None
