"""Settings that had other names: what earlier runs and users' files call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# Old name -> new name; None: the setting is gone, and nothing read it.
RENAMED: Final[Mapping[str, str | None]] = {
    "pairing.turns": "pairing.refinements",
    "pairing.held_out": None,
    "partition.beside": "partition.learned_weight",
}
# Values that had other names, by the setting's present name.
VALUES: Final[Mapping[str, Mapping[Any, Any]]] = {"pairing.score": {"nearness": "similarity"}}


def rename_settings(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings of an earlier version under today's names and values."""
    renamed = {RENAMED.get(path, path): value for path, value in flat.items()}
    return {path: VALUES.get(path, {}).get(value, value) if isinstance(value, str) else value
            for path, value in renamed.items() if path is not None}  # fmt: skip
