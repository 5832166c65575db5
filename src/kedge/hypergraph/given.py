"""Hypergraphs from elsewhere: a user's own matrix, and several hypergraphs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from kedge.types import Hypergraph, KedgeError


def accept(matrix: Any, n: int) -> Hypergraph:
    """A user's own n × e matrix of memberships p(v, e), dense or sparse, checked."""
    try:
        H = csr_array(matrix)
    except (TypeError, ValueError) as error:
        raise KedgeError(f"a hypergraph is a matrix of numbers ({error})") from None
    if H.ndim != 2 or H.shape[0] != n:
        raise KedgeError(f"a hypergraph of shape {H.shape} for {n:,} accounts", remedy="give one row for each account")
    outside = ~((H.data >= 0) & (H.data <= 1))  # so that NaN is outside too
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        account = int(np.searchsorted(H.indptr, place, side="right")) - 1
        raise KedgeError(
            f"p({account}, {H.indices[place]}) = {H.data[place]:g} is outside [0, 1]",
            remedy="scale memberships into [0, 1]",
        )
    return Hypergraph(H.astype(np.float32))


def unite(hypergraphs: Sequence[Hypergraph]) -> Hypergraph:
    """The hyperedges of several hypergraphs of the same accounts, side by side."""
    if not hypergraphs:
        raise KedgeError("no hypergraphs to unite", remedy="name at least one of hypergraph.builders")
    if len({h.n for h in hypergraphs}) > 1:
        raise KedgeError(f"hypergraphs of {', '.join(f'{h.n:,}' for h in hypergraphs)} accounts cannot be united")
    if len(hypergraphs) == 1:
        return hypergraphs[0]
    centres = [np.full(h.hyperedges, -1) if h.centres is None else h.centres for h in hypergraphs]
    return Hypergraph(csr_array(hstack([h.H for h in hypergraphs])), np.concatenate(centres))
