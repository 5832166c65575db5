"""What a match will take, estimated before it starts."""

from __future__ import annotations

from typing import Final

from kedge.config import Config
from kedge.methods import find_method
from kedge.probability import count_folds
from kedge.types import Network

_USUAL: Final = 3  # refinements after which few matches are new


def count_refinements(left: Network, right: Network, anchors: int, config: Config) -> int:
    """Roughly how many refinements of evidence all runs of a match take together, those for calibration too.

    The trial of a mixture is not counted; training reports its own progress.
    """
    if anchors == 0:
        return 0
    each = min(find_method(config.method).refinements(left, right, anchors, config), _USUAL)
    return each * (1 + count_folds(anchors, config.decide.holdout, config.decide.folds))
