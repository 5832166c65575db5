"""Which accounts of a network have a value in common: what profile hyperedges are drawn from (hypergraph/profiles.py).

Each kind of field states what accounts share (`Kind.shared`): equal values, words, cells of a map, or numbers of one
bin. Vectors share nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, hstack

from kedge.config import ProfileConfig
from kedge.errors import KedgeError
from kedge.profiles.fields import choose_fields
from kedge.types import Hypergraph, Profiles


def shared_values(left: Profiles, right: Profiles, config: ProfileConfig, largest: int) -> tuple[Hypergraph, ...]:
    """The accounts of each network × the values of all its fields, p = 1; a column is one value on both sides.

    `largest`: the accounts of the largest hyperedge, so that bins of numbers are narrow enough.
    """
    fields = choose_fields(left, right, config)
    found = [field.kind.shared(*field.prepare(left, right), largest) for field in fields]
    made = []
    for side, known in enumerate((left, right)):
        columns: list[csr_array] = [csr_array(np.zeros((known.n, 0), np.float32)), *(both[side] for both in found)]
        made.append(Hypergraph(csr_array(hstack(columns, format="csr"))))
    if not any(one.H.nnz for one in made):
        raise KedgeError(
            "hypergraph.builders has profiles, and no field of theirs has values that accounts could share",
            remedy="give other profiles, or choose another of hypergraph.builders",
        )
    return tuple(made)
