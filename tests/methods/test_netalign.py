"""NetAlign's messages against loops over candidates and squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from kedge.methods import netalign


def beliefs(L: Any, S: Any, rounds: Any) -> list[Any]:
    """y + z - d of every candidate, message by message (α = β = 1, damped by 0.99^t)."""
    candidates = [(int(u), int(v)) for u, v in np.argwhere(L != 0)]
    count = len(candidates)
    w = [float(L[pair]) for pair in candidates]
    y, z, d = list(w), list(w), list(w)
    message = {(e, f): 0.0 for e in range(count) for f in range(count) if S[e, f]}

    def other_max(values: Any, e: Any, side: Any) -> Any:
        rivals = [values[f] for f in range(count) if f != e and candidates[f][side] == candidates[e][side]]
        return max([0.0, *rivals])

    for t in range(1, rounds + 1):
        F = {(e, f): min(max(1.0 + message[f, e], 0.0), 1.0) for e, f in message}
        d = [w[e] + sum(F[e, f] for f in range(count) if (e, f) in F) for e in range(count)]
        new_y = [d[e] - other_max(z, e, 1) for e in range(count)]
        new_z = [d[e] - other_max(y, e, 0) for e in range(count)]
        new_message = {(e, f): new_y[e] + new_z[e] - d[e] - F[e, f] for e, f in message}
        share = 0.99**t
        y = [share * new + (1 - share) * old for new, old in zip(new_y, y, strict=True)]
        z = [share * new + (1 - share) * old for new, old in zip(new_z, z, strict=True)]
        message = {key: share * new_message[key] + (1 - share) * message[key] for key in message}
    return [y[e] + z[e] - d[e] for e in range(count)]


@pytest.mark.parametrize("rounds", [1, 2, 7])
@pytest.mark.parametrize("seed", range(3))
def test_messages_are_those_of_the_loops(rounds: int, seed: Any) -> None:
    rng = np.random.default_rng(seed)
    L = rng.random((5, 6)) * (rng.random((5, 6)) < 0.5)
    count = int((L != 0).sum())
    half = np.triu(rng.random((count, count)) < 0.3, 1)
    S = (half | half.T).astype(float)
    found = netalign._propagate(csr_array(L), csr_array(S), rounds)
    np.testing.assert_allclose(found, beliefs(L, S, rounds), rtol=1e-9, atol=1e-9)
