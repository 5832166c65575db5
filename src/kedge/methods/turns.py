"""How many turns of evidence and prior a run of kedge's own method takes: none where embeddings are not affordable."""

from __future__ import annotations

from typing import Final

from kedge.config import PairingConfig
from kedge.types import Network

__all__ = ["PLENTY", "turns_at_most"]

PLENTY: Final = 200  # as many anchors lay the spaces over each other well at once
_SMALL: Final = 20_000  # accounts of both networks up to which a turn takes seconds, and training minutes
_TURNS: Final = 3  # of larger ones: later turns move next to nothing (docs/decisions/0021)
_EDGES: Final = 10  # for each account that may be embedded: they cost as much


def turns_at_most(left: Network, right: Network, anchors: int, pairing: PairingConfig) -> int:
    """With so many anchors and what the settings leave open; 0 is evidence alone.

    A turn with sketches takes minutes at most; training large networks would take hours.
    """
    if pairing.use != "auto":
        return pairing.turns if pairing.use == "yes" and anchors else 0
    accounts, edges = left.n + right.n, left.edges + right.edges
    most = min(pairing.accounts, _SMALL) if pairing.vectors == "mgcn" else pairing.accounts
    if anchors == 0 or accounts > most or edges > _EDGES * pairing.accounts:
        return 0
    return min(pairing.turns, 1 if anchors >= PLENTY else _TURNS if accounts > _SMALL else pairing.turns)
