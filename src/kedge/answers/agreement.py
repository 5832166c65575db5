"""How far reviewers agree on the pairs that several of them decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from kedge.answers.replay import VERDICTS, Pair, State


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
    verdicts: dict[str, dict[Pair, str]] = defaultdict(dict)
    for pair in state.pairs():
        for entry in state.standing(pair):
            verdicts[entry.reviewer][pair] = entry.action
    couples = combinations(sorted(verdicts), 2)
    return [
        _compare(*couple, verdicts) for couple in couples if verdicts[couple[0]].keys() & verdicts[couple[1]].keys()
    ]


def _compare(first: str, second: str, verdicts: Mapping[str, Mapping[Pair, str]]) -> Agreement:
    shared = verdicts[first].keys() & verdicts[second].keys()
    cells = Counter((verdicts[first][pair], verdicts[second][pair]) for pair in shared)
    table = {a: {b: cells[a, b] for b in VERDICTS} for a in VERDICTS}
    same = sum(cells[v, v] for v in VERDICTS)
    shares = [(sum(table[v].values()), sum(table[a][v] for a in VERDICTS)) for v in VERDICTS]
    chance = sum(row * column for row, column in shares) / len(shared) ** 2
    kappa = None if chance >= 1 else (same / len(shared) - chance) / (1 - chance)
    return Agreement(first, second, len(shared), same, kappa, table)
