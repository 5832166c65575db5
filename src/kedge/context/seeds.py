"""Seeds of the parts of a computation, from one seed."""

from __future__ import annotations

import numpy as np


def spawn_seeds(seed: int, count: int = 3) -> list[int]:
    """`count` independent seeds; by default of the left network, of the right one, and of what follows."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(count)]
