"""Values that accounts have in common: what each kind of field joins, and what hyperedges become of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kedge.config import HypergraphConfig, ProfileConfig
from kedge.errors import KedgeError
from kedge.hypergraph import build_hypergraph
from kedge.profiles import shared_values
from kedge.types import Network, Profiles


def joined(values: list[Any], kind: str, largest: int = 50) -> list[list[int]]:
    """The accounts that each value joins, two at least."""
    known = Profiles(pa.table({"x": values}))
    found = shared_values(known, known, ProfileConfig(compare=(f"x:{kind}",)), largest)[0].H.toarray()
    return sorted(np.flatnonzero(column).tolist() for column in found.T if column.sum() > 1)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("category", ["Rome", "rome", None, "Oslo"], [[0, 1]]),
        ("hash", ["a1", "A1", "a1", None], [[0, 2]]),
        ("place", ["41.90, 12.49", "41.91, 12.48", "59.9, 10.7", None], [[0, 1]]),
        ("url", ["https://a.org/x", "a.org/x", "a.org/y", "b.org"], [[0, 1], [0, 1, 2]]),
        ("tokens", ["go;chess", "chess;rust", "rust", None], [[0, 1], [1, 2]]),
        ("text", ["plays the lute", "the lute of old", None, "reads"], [[0, 1], [0, 1]]),
        ("handle", ["Anna Berg", "berg_anna", "Ann Berger", "zoë.anna"], [[0, 1], [0, 1, 3]]),
    ],
)
def test_what_joins_accounts(kind: str, values: list[Any], expected: list[list[int]]) -> None:
    assert joined(values, kind) == expected


@pytest.mark.parametrize("kind", ["number", "date"])
def test_numbers_are_joined_in_bins_of_half_the_largest_hyperedge(kind: str) -> None:
    order = np.random.default_rng(0).permutation(40)
    values = [str(x) if kind == "number" else f"20{10 + x // 12}-{x % 12 + 1:02d}-01" for x in order]
    bins = joined([*values, None], kind, largest=10)
    assert [len(one) for one in bins] == [5] * 8
    for one in bins:  # neighbours in the order
        assert np.ptp(order[one]) == 4


def test_one_number_of_most_accounts_is_one_bin() -> None:
    assert max(map(len, joined(["0"] * 30 + [str(i) for i in range(1, 11)], "number", largest=10))) >= 30


def test_a_column_is_one_value_on_both_sides_and_vectors_share_nothing() -> None:
    left = Profiles(pa.table({"city": ["Rome", "Oslo", "Rome"], "face": ["1 0 0"] * 3}))
    right = Profiles(pa.table({"city": ["Oslo", "Oslo"], "face": ["1 0 0", "0 1 0"]}))
    one, other = (
        side.H.toarray() for side in shared_values(left, right, ProfileConfig(compare=("city:category",)), 50)
    )
    assert one.shape[1] == other.shape[1] == 2
    assert one[1].tolist() == other[0].tolist() == other[1].tolist()
    with pytest.raises(KedgeError, match="no field of theirs"):
        shared_values(left, right, ProfileConfig(fields=("face",)), 50)


def test_common_words_make_no_hyperedge() -> None:
    bios = [f"the word{i // 2}" for i in range(20)]
    known = Profiles(pa.table({"bio": bios}))
    values = shared_values(known, known, ProfileConfig(compare=("bio:text",)), 10)[0]
    config = HypergraphConfig(builders="profiles", largest=10)
    H = build_hypergraph(Network.from_edges([], 20), config, shared_values=values).H.toarray()
    assert H.shape == (20, 10)
    assert np.array_equal(H.sum(axis=1), np.ones(20))
