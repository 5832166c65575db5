"""Names of files in a run directory that both its writers and its readers need."""

from typing import Final

__all__ = ["PRIOR", "SUPPORT"]

SUPPORT: Final = "model/support.npz"
PRIOR: Final = "model/prior.npz"
