"""Names inside of files that were others in earlier versions: their runs are read by today's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

T = TypeVar("T")

_PREFIXES: Final = {"believed_": "strengths_", "judge_": "network_", "laid_": "vectors_"}  # in scores.npz
_CALIBRATION: Final = {
    "said": "predicted",
    "said_given": "predicted_given_counterpart",
    "right": "correct",
    "missing": "without_candidates",
}  # in calibration.json


def rename_arrays(arrays: Mapping[str, T]) -> dict[str, T]:
    """The arrays of an alignment."""
    renamed = {}
    for name, part in arrays.items():
        old = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
        renamed[_PREFIXES.get(old, "") + name.removeprefix(old)] = part
    return renamed


def rename_calibration(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a calibrator."""
    return {_CALIBRATION.get(name, name): value for name, value in record.items()}


def rename_evaluation(record: Mapping[str, Any]) -> dict[str, Any]:
    """The breakdown of the test pairs."""
    rows = [
        {"predicted" if name == "said" else name: value for name, value in row.items()} for row in record["reliability"]
    ]
    return {**record, "reliability": rows}
