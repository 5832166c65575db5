"""The kinds of fields: one record each, in one visible registry; the first that recognises a column is its kind."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kedge.profiles import category, date, handle, hash, number, place, text, tokens, url, vector
from kedge.profiles.values import Kind
from kedge.types import KedgeError

_SAMPLE: Final = 2_000  # values that are looked at

# In the order in which they are tried: the narrower forms first.
KINDS: Final[dict[str, Kind]] = {
    module.KIND.name: module.KIND for module in (date, place, vector, number, url, hash, tokens, text, handle, category)
}


def find_kind(name: str) -> Kind:
    """The kind of this name, or one line with the known ones."""
    if name not in KINDS:
        raise KedgeError(f"no kind of field {name!r}", remedy=f"choose one of: {', '.join(KINDS)}")
    return KINDS[name]


def recognise(name: str, left: pa.Array, right: pa.Array) -> Kind:
    """The kind of a field by its values on both sides."""
    samples = [_sample(column) for column in (left, right)]
    filled = [sample for sample in samples if len(sample)]
    return next(kind for kind in KINDS.values() if all(kind.recognises(name, sample) for sample in filled))


def _sample(column: pa.Array) -> pa.Array:
    """Filled values, evenly over the column."""
    filled = column.drop_null()
    step = max(len(filled) // _SAMPLE, 1)
    return filled.take(pa.array(range(0, len(filled), step)))
