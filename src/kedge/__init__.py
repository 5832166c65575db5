"""kedge: link the accounts of one person across two networks.

    import kedge
    kedge.match("left.csv", "right.csv", "known.csv").to_frame()

Names are loaded when they are first used, so that `import kedge` costs nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kedge.api import Linker, embed, match
    from kedge.config import Config
    from kedge.errors import KedgeError
    from kedge.ingest import read_network
    from kedge.types import Hypergraph, Matches, Network, Problem

# Read when torch loads OpenMP: idle threads sleep instead of spinning, which on a busy machine takes the cores from the
# threads that work (a training step on 4,000 accounts, two threads: 6.0 s spinning, 0.12 s sleeping, at a load of 11).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"

__all__ = [
    "Config",
    "Hypergraph",
    "KedgeError",
    "Linker",
    "Matches",
    "Network",
    "Problem",
    "__version__",
    "embed",
    "match",
    "read_network",
]

_PLACES = {
    "Config": "kedge.config",
    "Hypergraph": "kedge.types",
    "KedgeError": "kedge.errors",
    "Linker": "kedge.api",
    "Matches": "kedge.types",
    "Network": "kedge.types",
    "Problem": "kedge.types",
    "embed": "kedge.api",
    "match": "kedge.api",
    "read_network": "kedge.ingest.read",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'kedge' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
