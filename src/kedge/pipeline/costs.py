"""What a match will take, told before it starts."""

from __future__ import annotations

from typing import Final

from kedge.config import Config
from kedge.link.calibrate import count_folds
from kedge.methods.turns import turns_at_most
from kedge.types import Network

__all__ = ["turns_in_all"]

_USUAL_TURNS: Final = 3  # of evidence and prior, after which few matches are new


def turns_in_all(left: Network, right: Network, anchors: int, config: Config) -> int:
    """Roughly how many turns of evidence and prior all runs of a match take together, those with hidden anchors too.

    A trial of a mixture is left out, and what training takes is told by its own progress.
    """
    if config.method != "kedge" or anchors == 0 or (config.evidence.form == "dense" and config.pairing.use == "auto"):
        return 0
    turns = min(turns_at_most(left, right, anchors, config.pairing), _USUAL_TURNS)
    if config.pairing.mixture:
        turns = max(turns, 1)  # it searches once too
    return turns * (1 + count_folds(anchors, config.decide.holdout, config.decide.folds))
