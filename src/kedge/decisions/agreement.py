"""How far reviewers agree on the pairs that several of them decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kedge.decisions.replay import VERDICTS, Pair, State

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True)
class Agreement:
    """How two reviewers judged the pairs that both decided; Cohen's kappa is None where it is not defined."""

    first: str
    second: str
    both: int
    same: int
    kappa: float | None
    table: Mapping[str, Mapping[str, int]]


def agreement(state: State) -> list[Agreement]:
    """Cohen (1960): kappa = (observed - chance) / (1 - chance) for each two reviewers who share a pair.

    Chance is the agreement of two who keep their own shares of yes, no and unsure but decide blindly.
    """
    said: dict[str, dict[Pair, str]] = defaultdict(dict)
    for pair in state.pairs():
        for entry in state.standing(pair):
            said[entry.reviewer][pair] = entry.action
    names = sorted(said)
    found = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            shared = said[first].keys() & said[second].keys()
            if not shared:
                continue
            cells = Counter((said[first][pair], said[second][pair]) for pair in shared)
            table = {a: {b: cells[a, b] for b in VERDICTS} for a in VERDICTS}
            same = sum(cells[v, v] for v in VERDICTS)
            rows = [sum(table[v].values()) for v in VERDICTS]
            columns = [sum(table[a][v] for a in VERDICTS) for v in VERDICTS]
            chance = sum(r * c for r, c in zip(rows, columns, strict=True)) / len(shared) ** 2
            kappa = None if chance >= 1 else (same / len(shared) - chance) / (1 - chance)
            found.append(Agreement(first, second, len(shared), same, kappa, table))
    return found
