"""What a match costs with each method, estimated before it starts from what runs of other sizes took.

One run takes about a · ((accounts + edges) / 10,000)^p CPU seconds. `python benchmarks/estimates.py --fit` prints a and
p of each method from docs/results/estimates.json, and `--check` how far estimates are from whole matches.
"""

from __future__ import annotations

from typing import Final

from kedge.config import Config
from kedge.methods import Method

_RUN: Final[dict[str, tuple[float, float]]] = {
    "mgcn": (0.517, 1.1),
    "common-neighbours": (0.018, 1.1),
    "autoencoder": (7.166, 0.92),
    "mah": (0.589, 1.35),
    "deepwalk": (2.604, 1.14),
    "node2vec": (2.494, 0.91),
    "line": (2.315, 0.82),
    "spectral": (0.422, 1.38),
    "mds": (0.556, 1.04),
    "graph-factorisation": (0.286, 1.12),
    "gcn": (5.441, 0.95),
    "pale": (4.934, 0.86),
    "pale-mlp": (5.11, 0.86),
    "hgnn": (6.336, 1.04),
    "hypergcn": (6.8, 0.5),
    "dhgnn": (22.23, 0.76),
    "isorank": (0.112, 2.11),
    "netalign": (0.191, 1.39),
    "final": (0.156, 2.36),
    "regal": (0.068, 1.57),
    "ione": (2.823, 1.17),
    "deeplink": (5.838, 0.91),
    "dalaup": (4.865, 1.0),
    "user-matching": (0.164, 1.35),
    "percolation": (0.133, 1.42),
    "irma": (0.431, 1.36),
    "faq": (0.662, 1.5),
    "parrot": (2.87, 2.5),
    "cosnet": (0.219, 0.96),
    "bass": (0.307, 1.38),
    "galign": (1.691, 0.54),
    "nextalign": (5.755, 2.0),
    "joena": (3.512, 1.71),
}
# The rest of a match, fitted to its matches of 300 accounts per side.
_START: Final = 2.0  # imports, reading, calibration, the report
_TORCH: Final = 2.5  # its import
_SEARCH: Final = 0.9  # of one run with vectors that are there already, for 10,000 accounts and edges
_PER_ACCOUNT: Final = 1.2e-4  # reading, calibration, the report; unmeasured beyond 1,000 accounts
_PER_EDGE: Final = 1e-5
# Training by the paper's objective: CPU seconds of one step for 10,000 accounts and edges and 128 dimensions.
_STEP: Final = 0.091


def estimate_seconds(method: Method, config: Config, accounts: int, edges: int, runs: int) -> float | None:
    """CPU seconds of a match with so many accounts and edges in both networks, and so many runs for calibration.

    None for a method that refines evidence, which has an estimate of its own (`kedge.ingest.estimate_cost`).
    """
    if method.name not in _RUN:
        return None
    size = (accounts + edges) / 1e4
    factor, power = _RUN[method.name]
    once = factor * float(size**power)
    start = _START + accounts * _PER_ACCOUNT + edges * _PER_EDGE
    if method.trains_vectors(config):
        once = config.mgcn.steps * _STEP * size * config.mgcn.dimensions / 128
        return start + _TORCH + once + (1 + runs) * _SEARCH * size
    if method.name != "mgcn" and method.extra:
        start += _TORCH
    if method.embeds and method.name != "mgcn":  # its vectors are made once, whichever anchors are known
        return start + once + (1 + runs) * _SEARCH * size
    return start + (1 + runs) * once
