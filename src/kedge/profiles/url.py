"""Addresses of pages: the same page, or the same host."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array, hstack

from kedge.profiles.values import Column, Kind, Values, as_texts, is_text, number_values, one_hot, share_of
from kedge.types import FloatArray, IntArray

_URL: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?([\w-]+(?:\.[\w-]+)+)(?::\d+)?(/[^?#\s]*)?(?:[?#]\S*)?", re.I
)
_CERTAIN: Final = re.compile(r"https?://|www\.", re.I)


def _parts(text: str | None) -> tuple[str, str] | None:
    found = None if text is None else _URL.fullmatch(text.strip())
    return None if found is None else (found[1].casefold(), (found[2] or "").rstrip("/"))


def _recognises(_name: str, sample: pa.Array) -> bool:
    if not is_text(sample):
        return False
    return share_of(sample, lambda text: bool(_CERTAIN.match(text)) and _parts(text) is not None) >= 0.7


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """One number for each page; features are pages and hosts. What is no address counts as a host."""
    found = [
        [None if text is None else _parts(text) or (text.strip().casefold(), "") for text in as_texts(side)]
        for side in (left, right)
    ]
    codes = number_values(*found)
    hosts = number_values(*([None if parts is None else parts[0] for parts in side] for side in found))
    both = zip(one_hot(*codes), one_hot(*hosts), strict=True)
    features = [csr_array(hstack([page, host]) * np.float32(np.sqrt(0.5))).tocsr() for page, host in both]
    numbers = [host.astype(np.float64)[:, None] for host in hosts]
    return Values(codes[0], features[0], numbers[0]), Values(codes[1], features[1], numbers[1])


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """1 on the same host, else 0, [m]; the same page is a level of its own."""
    return np.asarray(left.numbers[pairs[:, 0], 0] == right.numbers[pairs[:, 1], 0], np.float32)


KIND = Kind("url", "the same page, the same host", _recognises, prepare, similarity, (0.5,), (0.4, 0.2, 0.4))
