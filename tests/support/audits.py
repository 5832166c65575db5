"""Matches and answers for tests of the audit."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa

from kedge.types import Matches


def made_matches(n: int) -> Matches:
    """Left account i is assigned to right account i with probability i / n; from 0.6 on it is a match."""
    p = np.arange(n) / n
    return Matches(
        left_ids=pa.array([f"a{i}" for i in range(n)]),
        right_ids=pa.array([f"b{i}" for i in range(n)]),
        left=np.arange(n),
        right=np.arange(n),
        rank=np.ones(n, int),
        score=p,
        probability=p,
        margin=p,
        decision=np.where(p >= 0.6, 2, 1),
        counterpart=np.ones(n),
        assigned=np.ones(n, bool),
        threshold=0.6,
    )


def answer(source: Path, target: Path, truth: dict[str, str], most: int = 1000) -> list[dict[str, str]]:
    """The first rows of a sample answered by someone who knows the truth."""
    rows = list(csv.DictReader(source.read_text("utf-8").splitlines()))
    for row in rows[:most]:
        row["answer"] = "yes" if truth.get(row["left"]) == row["right"] else "no"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows
