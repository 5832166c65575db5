"""The frozen things that kedge's stages hand to each other.

Shapes: n accounts in a network, m pairs, e hyperedges. Accounts are integers 0..n-1 inside kedge; the
names that users gave them (`ids`) are text and carry no meaning.
"""

from kedge.errors import KedgeError
from kedge.types.problem import (
    BoolArray,
    FloatArray,
    Hypergraph,
    IntArray,
    Network,
    Parts,
    Problem,
    Profiles,
    Side,
    Split,
    as_pairs,
    is_among,
    narrow,
    pair_keys,
    read_only,
)
from kedge.types.results import DECISIONS, Alignment, Matches, Support, Suspects
