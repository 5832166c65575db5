"""Sets of tokens: interests, tags, groups; the order does not matter."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

from kedge.profiles.values import (
    Column,
    Kind,
    Values,
    as_texts,
    cosine,
    fold,
    is_list,
    is_text,
    number_values,
    share_of,
    weigh_terms,
)

_SIGNS: Final = re.compile(r"[;|,]")
_SINGLE: Final = re.compile(r"\S*\d\S*")


def _recognises(_name: str, sample: pa.Array) -> bool:
    """Lists of text, text in parts separated by ; | or commas, or words that are codes."""
    if is_list(sample):
        return True
    if not is_text(sample):
        return False
    texts = [text for text in as_texts(sample) if text]
    parts = [_SIGNS.split(text) for text in texts]
    short = sum(len(part) > 1 and max(len(one.split()) for one in part) <= 3 for part in parts)
    coded = share_of(sample, lambda text: len(text.split()) > 1 and all(map(_SINGLE.fullmatch, text.split())))
    return short > 0.5 * len(texts) or coded > 0.8


def _tokens(text: str | None) -> list[str]:
    if text is None:
        return []
    parts = _SIGNS.split(text) if _SIGNS.search(text) else text.split()
    return [token for token in map(fold, parts) if token]


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Tokens as features, and one number for each distinct set."""
    bags = [[_tokens(text) for text in as_texts(side)] for side in (left, right)]
    codes = number_values(*([" ".join(sorted(set(bag))) or None for bag in side] for side in bags))
    features = weigh_terms(*bags)
    return Values(codes[0], features[0]), Values(codes[1], features[1])


KIND = Kind(
    "tokens",
    "a set of tokens: those in common, rare ones count more",
    _recognises,
    prepare,
    cosine,
    (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8),
    (0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.1),
)
