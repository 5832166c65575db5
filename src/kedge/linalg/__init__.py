"""Arrays and sparse matrices: the kernels that several rooms share, and the scores of pairs (`Alignment`).

`assign`, `best` and `spmm` load numba or torch and are reached directly.
"""

from kedge.linalg.alignment import PairModel, SparseAlignment, VectorAlignment, join_csr, split_csr
from kedge.linalg.numbering import (
    canonical,
    canonical_network,
    nearby_order,
    renumber,
    renumber_hypergraph,
    renumber_network,
    reorder,
    sort_hyperedges,
)
from kedge.linalg.search import EXACT_UP_TO, nearest
from kedge.linalg.sketch import sketch_network, unit_mean_square
from kedge.linalg.sparse import (
    average_rank,
    count_above,
    entries_at,
    gains,
    normalise,
    pattern,
    rank_in_rows,
    reciprocal_ranks,
    row_index,
    symmetric_walk,
    top_of_rows,
    unit_rows,
    with_data,
    without_entries,
)
