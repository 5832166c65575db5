"""Pairs whose truth is known, to learn from: anchors, and false pairs drawn honestly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kedge.config import PairingConfig
from kedge.types import FloatArray, IntArray, as_pairs

__all__ = ["Examples", "draw_examples"]


@dataclass(frozen=True)
class Examples:
    """Pairs whose truth is known: vectors [m, d] of both sides, evidence [m] or None, and which are matched."""

    left: FloatArray
    right: FloatArray
    matched: FloatArray
    evidence: FloatArray | None = None


def draw_examples(
    X: FloatArray,
    Y: FloatArray,
    anchors: IntArray,
    config: PairingConfig,
    rng: np.random.Generator,
    candidates: IntArray | None = None,
    evidence: Mapping[tuple[int, int], float] | None = None,
) -> Examples:
    """The anchors, and for each `config.negatives` false pairs: one of its two accounts with somebody else.

    A pair is known to be false only if one of its accounts has its partner elsewhere, so candidates without an anchored
    account are never taken for false. Where an anchor has no such candidates its false pairs are all random.
    """
    known = as_pairs(anchors)
    partner = dict(zip(known[:, 0].tolist(), known[:, 1].tolist(), strict=True))
    owner = {v: u for u, v in partner.items()}
    rivals: dict[tuple[int, int], list[tuple[int, int]]] = {pair: [] for pair in partner.items()}
    for u, v in as_pairs([] if candidates is None else candidates).tolist():
        if partner.get(u, v) != v:
            rivals[u, partner[u]].append((u, v))
        elif owner.get(v, u) != u:
            rivals[owner[v], v].append((u, v))
    false: list[tuple[int, int]] = []
    for (u, v), near in rivals.items():
        wanted = min(round(config.hard * config.negatives), len(near))
        false += [near[i] for i in rng.choice(len(near), wanted, replace=False)] if wanted else []
        for turn in range(config.negatives - wanted):
            # Half of the random ones change the right account, half the left one.
            here, there, others = (u, v, len(Y)) if turn % 2 == 0 else (v, u, len(X))
            if others < 2:
                continue
            other = int(rng.integers(others - 1))
            other += other >= there
            false.append((here, other) if turn % 2 == 0 else (other, here))
    pairs = np.concatenate([known, as_pairs(false)])
    matched = np.concatenate([np.ones(len(known)), np.zeros(len(false))])
    heard = None if evidence is None else np.array([evidence.get((u, v), 0.0) for u, v in pairs.tolist()])
    return Examples(X[pairs[:, 0]], Y[pairs[:, 1]], matched, heard)
