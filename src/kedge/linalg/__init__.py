"""The numeric kernels that several rooms share, each written once."""

from kedge.linalg.ranks import average_rank, count_above, gains, rank_in_rows, reciprocal_ranks
from kedge.linalg.rows import top_of_rows, unit_rows
from kedge.linalg.sparse import entries_at, normalise, pattern, row_index, symmetric_walk, with_data, without_entries

__all__ = [
    "average_rank",
    "count_above",
    "entries_at",
    "gains",
    "normalise",
    "pattern",
    "rank_in_rows",
    "reciprocal_ranks",
    "row_index",
    "symmetric_walk",
    "top_of_rows",
    "unit_rows",
    "with_data",
    "without_entries",
]
