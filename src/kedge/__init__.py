"""kedge: link the accounts of one person across two networks.

    import kedge
    run = kedge.match("left.csv", "right.csv", "known.csv")
    run.matches.to_pandas()

Names are loaded when they are first used, so that `import kedge` costs nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kedge.api import (
        Linker,
        Run,
        check,
        compare,
        demo,
        doctor,
        embed,
        example,
        explain,
        list_methods,
        make_key,
        match,
        open,
        pseudonymise,
        reproduce,
        synth,
    )
    from kedge.config import Config
    from kedge.errors import KedgeError
    from kedge.ingest import read_network
    from kedge.types import Hypergraph, Matches, Network, Problem

# Read when torch loads OpenMP: idle threads sleep instead of spinning, which on a busy machine takes the cores from the
# threads that work (a training step on 4,000 accounts, two threads: 6.0 s spinning, 0.12 s sleeping, at a load of 11).
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"

__all__ = ["Config", "Hypergraph", "KedgeError", "Linker", "Matches", "Network", "Problem", "Run", "__version__"]
__all__ += ["check", "compare", "demo", "doctor", "embed", "example", "explain", "list_methods", "make_key", "match"]
__all__ += ["open", "pseudonymise", "read_network", "reproduce", "synth"]

# All others are in `kedge.api`, which loads the whole pipeline; these are to be had for less.
_LIGHT = {"Config": "config", "KedgeError": "errors", "read_network": "ingest"}
_LIGHT |= dict.fromkeys(("Hypergraph", "Matches", "Network", "Problem"), "types")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kedge' has no attribute {name!r}")
    if name not in _LIGHT:  # numba is loaded with these, and reads then where it may save
        import_module("kedge.context.compiled").ensure_compile_cache()
    return getattr(import_module(f"kedge.{_LIGHT.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return __all__
