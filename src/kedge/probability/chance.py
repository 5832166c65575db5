"""Whether validation anchors are found better than by chance. If not, no pair may be called a match.

An account whose candidates are ranked at random has its partner first once in as many times as there are accounts to
choose from. Anchors that do not fit the networks (drawn at random, read from wrong columns, of other networks) are
found no more often than that. A one-sided binomial test decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scipy.special import bdtrc

# Of the test. With random networks 2 of 10 anchors were right by luck (0.0012), and pairs looked sure (decision 40).
_LEVEL: Final = 0.001
_FEW: Final = 10  # validation anchors below which their number is a reason too; unmeasured


def right_by_chance(folds: Iterable[tuple[int, int]]) -> float:
    """How many validation anchors a random ranking has first: each fold with their number and that of free partners."""
    return float(sum(validated / max(free, 1) for validated, free in folds))


def is_chance(right: int, validated: int, expected: float | None) -> bool:
    """Whether a random ranking, which has `expected` of them first, has so many first in more than one of 1,000 cases.

    None is an expectation that earlier versions did not save: they did not ask.
    """
    if expected is None or validated == 0:
        return False
    return float(bdtrc(right - 1, validated, min(expected / validated, 1.0))) > _LEVEL if right else True


def ceiling(right: int, validated: int, expected: float | None) -> float:
    """The largest probability that this many validation anchors can support, by Laplace's rule of succession.

    (n + 1) / (n + 2) for n of them; where they are found no better than by chance, (r + 1) / (n + 2) for r right ones:
    what the rule gives for the share that is right, which is below any threshold that kedge chooses.
    """
    most = right if is_chance(right, validated, expected) else validated
    return (most + 1) / (validated + 2)


def misfit(right: int, validated: int, expected: float | None) -> str | None:
    """One sentence where validation anchors are found no better than by chance."""
    if expected is None or not is_chance(right, validated, expected):
        return None
    reason = "the anchors are too few, or" if validated < _FEW else "the anchors or the columns"
    found = f"{right:,} of {validated:,} right first, {expected:.2g} by chance"
    return (
        f"validation anchors are found no better than by chance ({found}): {reason} do not fit these networks, or the "
        "method finds nothing; `kedge check` shows more"
    )
