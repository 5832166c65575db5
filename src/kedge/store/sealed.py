"""A JSON object that carries a checksum of itself: a change of any value in it is noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from kedge.store.formats import dump_json

_NAME: Final = "checksum"


def seal(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its checksum as the last field."""
    plain = {name: part for name, part in value.items() if name != _NAME}
    return {**plain, _NAME: hashlib.sha256(dump_json(plain).encode()).hexdigest()}


def is_sealed(value: Mapping[str, Any]) -> bool:
    """Whether the object has its checksum, and is as it was written."""
    try:
        return seal(value).get(_NAME) == value.get(_NAME)
    except (ValueError, TypeError, UnicodeEncodeError):  # NaN, an unpaired surrogate: never written
        return False
