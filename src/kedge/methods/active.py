"""DALAUP's queries (IJCAI 2019): which pairs to ask about next, for any method and any oracle.

Three strategies say how useful an answer about a left account would be: `entropy`, how evenly its best candidates share
the belief, averaged with its neighbours'; `cosine`, how high its best candidate scores; `error`, how many of its
neighbours are unsure and would learn from the answer. A bandit (EXP3) chooses between them by what each has
brought so far, and forgets old rewards. The strategies' names and their bandit are those of the paper;
their formulas are kedge's reading of a summary of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.methods import Method
from kedge.types import BoolArray, FloatArray, IntArray, Problem

__all__ = ["STRATEGIES", "Bandit", "Oracle", "choose_queries", "learn_actively"]

Oracle = Callable[[IntArray], BoolArray]
_CANDIDATES = 10
_SHARPNESS = 10.0  # cosines lie within 1 of each other: multiplied by this before they become shares


def _shares(scores: FloatArray) -> FloatArray:
    """Softmax of each account's best scores; candidates that are not there have none."""
    top = np.where(np.isfinite(scores), scores, -np.inf)
    top = top - np.where(np.isfinite(top[:, :1]), top[:, :1], 0)
    shares = np.exp(_SHARPNESS * top)
    total = shares.sum(axis=1, keepdims=True)
    result: FloatArray = shares / np.where(total > 0, total, 1)
    return result


def _by_entropy(problem: Problem, scores: FloatArray) -> FloatArray:
    shares = _shares(scores)
    own = -(shares * np.log(np.maximum(shares, 1e-30))).sum(axis=1)
    around = problem.left.adjacency.astype(bool) @ own / np.maximum(problem.left.degrees, 1)
    useful: FloatArray = (own + around) / 2
    return useful


def _by_cosine(problem: Problem, scores: FloatArray) -> FloatArray:
    del problem
    return np.where(np.isfinite(scores[:, 0]), scores[:, 0], -1e30)


def _by_error(problem: Problem, scores: FloatArray) -> FloatArray:
    unsure = 1 - _shares(scores).max(axis=1)
    useful: FloatArray = unsure + problem.left.adjacency.astype(bool) @ unsure
    return useful


STRATEGIES: Final[Mapping[str, Callable[[Problem, FloatArray], FloatArray]]] = {
    "entropy": _by_entropy,
    "cosine": _by_cosine,
    "error": _by_error,
}


def choose_queries(problem: Problem, alignment: Alignment, count: int, strategy: str) -> IntArray:
    """The `count` most useful pairs to ask about, [at most count, 2]: open accounts and their best open candidate.

    Anchored accounts and rejected pairs are not asked about again.
    """
    best, scores = alignment.top(np.arange(problem.left.n), _CANDIDATES)
    useful = STRATEGIES[strategy](problem, scores)
    known = {(int(u), int(v)) for u, v in problem.rejected}
    taken_left, taken_right = set(problem.anchors[:, 0].tolist()), set(problem.anchors[:, 1].tolist())
    chosen: list[tuple[int, int]] = []
    for u in np.argsort(-useful, kind="stable").tolist():
        if len(chosen) == count:
            break
        if u in taken_left:
            continue
        free = [v for v in best[u].tolist() if v >= 0 and v not in taken_right and (u, v) not in known]
        if free:
            chosen.append((u, free[0]))
    return np.array(chosen, np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Bandit:
    """EXP3 over the strategies; `weights` are what each has brought, older rewards counting less."""

    weights: tuple[float, ...] = (1.0,) * len(STRATEGIES)
    explore: float = 0.3
    forget: float = 0.9

    def chances(self) -> FloatArray:
        """The chance of each strategy."""
        weights = np.array(self.weights)
        chances: FloatArray = (1 - self.explore) * weights / weights.sum() + self.explore / len(weights)
        return chances

    def rewarded(self, arm: int, reward: float) -> Bandit:
        """The bandit after one reward in [0, 1]."""
        gain = self.explore * reward / (len(self.weights) * float(self.chances()[arm]))
        faded = [weight**self.forget for weight in self.weights]
        faded[arm] *= float(np.exp(gain))
        return replace(self, weights=tuple(faded))


def learn_actively(
    problem: Problem, method: Method, oracle: Oracle, config: Config, seed: int, rounds: int, batch: int
) -> tuple[Problem, Alignment]:
    """Align, ask, learn: the problem with all answers, and its last alignment.

    A yes makes a pair an anchor, a no makes it rejected; the reward is the share of yes among the answers.
    """
    rng, bandit, names = np.random.default_rng(seed), Bandit(), tuple(STRATEGIES)
    alignment = method(problem, config, seed)
    for _ in range(rounds):
        arm = int(rng.choice(len(names), p=bandit.chances()))
        asked = choose_queries(problem, alignment, batch, names[arm])
        if len(asked) == 0:
            break
        said = np.asarray(oracle(asked), bool)
        bandit = bandit.rewarded(arm, float(said.mean()))
        # Two asked accounts may have been offered the same partner: the first yes counts.
        yes = asked[said]
        yes = yes[np.sort(np.unique(yes[:, 1], return_index=True)[1])]
        problem = replace(
            problem,
            anchors=np.concatenate([problem.anchors, yes]),
            rejected=np.concatenate([problem.rejected, asked[~said]]),
        )
        alignment = method(problem, config, seed)
    return problem, alignment
