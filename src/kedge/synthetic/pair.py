"""What synth returns: two networks, the persons who are in both, the figures that came out; and these as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

from kedge.types import IntArray, KedgeError, Network, as_pairs

MOST_NODES = 2**31 - 1  # two accounts share one 64-bit key


@dataclass(frozen=True)
class Planted:
    """Two networks whose whole truth is known.

    `anchors` int64 [m, 2] holds (left account, right account) of every person in both, in no order. `notes` are
    sentences for people: what was adjusted and what could not be had. `realised` are the figures that came out
    (`measure` lists them).
    """

    left: Network
    right: Network
    anchors: IntArray
    notes: tuple[str, ...]
    realised: dict[str, float]

    def __post_init__(self) -> None:
        pairs = as_pairs(self.anchors).view()
        pairs.flags.writeable = False
        object.__setattr__(self, "anchors", pairs)
        object.__setattr__(self, "realised", dict(self.realised))


def checked_count(name: str, value: int, least: int) -> int:
    """`value` as an int, or the reason why it is no count of accounts or edges."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise KedgeError(f"{name} is {value!r}, not a whole number", remedy=f"give a whole number from {least}")
    if not least <= value:
        raise KedgeError(f"{name} is {value}", remedy=f"give at least {least}")
    if value > MOST_NODES:
        raise KedgeError(f"{name} is {value}", remedy=f"give at most {MOST_NODES}")
    return int(value)


def checked_number(name: str, value: float, least: float, most: float) -> float:
    """`value` as a float in [least, most], or the reason why it is none; NaN is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not least <= number <= most:
        raise KedgeError(f"{name} is {value!r}", remedy=f"give a number from {least:g} to {most:g}")
    return number


def checked_seed(seed: int) -> np.random.Generator:
    """A generator that depends on the seed alone."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise KedgeError(f"seed is {seed!r}", remedy="give a whole number from 0 to 2**63 - 1")
    return np.random.default_rng(int(seed))


def keys(first: IntArray, second: IntArray) -> NDArray[np.int64]:
    """One int64 for each ordered pair, ascending in (first, second)."""
    packed = first.astype(np.int64)
    packed <<= 32
    packed |= second
    return packed


def _names(prefix: str, n: int, rng: np.random.Generator) -> pa.Array:
    """n distinct ids such as `a000123`, dealt out at random so that they carry no meaning."""
    digits = pc.utf8_lpad(pa.array(rng.permutation(n)).cast(pa.large_string()), max(6, len(str(n - 1))), "0")
    return pc.binary_join_element_wise(pa.scalar(prefix, pa.large_string()), digits, pa.scalar("", pa.large_string()))


def shuffled_network(
    first: IntArray,
    second: IntArray,
    members: IntArray,
    persons: int,
    prefix: str,
    rng: np.random.Generator,
    weights: NDArray[np.float32] | None = None,
) -> tuple[Network, IntArray]:
    """The network of `members` in a random order under random ids, and the account of each person (-1: none).

    `first`, `second` [m] are persons, each undirected edge once; `weights` [m], 1 where not given.
    """
    n = len(members)
    account = np.full(persons, -1, np.int32)
    account[members] = rng.permutation(n).astype(np.int32)
    a, b = account[first], account[second]
    both_ways = np.concatenate([keys(a, b), keys(b, a)])
    if weights is None:
        both_ways.sort()
        data = np.ones(len(both_ways), np.float32)
    else:
        order = np.argsort(both_ways, kind="stable")
        both_ways = both_ways[order]
        data = np.concatenate([weights, weights])[order].astype(np.float32)
    degrees = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    if len(both_ways) < 2**31:  # scipy wants both index arrays of one width; the narrow one halves them
        indptr = indptr.astype(np.int32)
    both_ways &= 0xFFFFFFFF
    adjacency = csr_array((data, both_ways.astype(indptr.dtype), indptr), shape=(n, n))
    return Network(adjacency, _names(prefix, n, rng)), account


def split(anchors: Any, train_share: float, seed: int) -> tuple[IntArray, IntArray]:
    """The anchors dealt at random into (train, test); train gets the nearest whole number to its share."""
    share = checked_number("train_share", train_share, 0, 1)
    pairs = as_pairs(anchors)
    dealt = pairs[checked_seed(seed).permutation(len(pairs))]
    cut = round(share * len(pairs))
    return dealt[:cut], dealt[cut:]


def edge_table(network: Network, seed: int = 0) -> pa.Table:
    """Each undirected edge once as columns `source`, `target` (and `weight` where some weight is not 1).

    Rows and the two ends of each row are in random order, so that a file gives nothing away.
    """
    rng = checked_seed(seed)
    upper = triu(network.adjacency, k=1, format="coo")
    order = rng.permutation(upper.nnz)
    first, second = (np.asarray(ends)[order] for ends in upper.coords)
    turned = rng.random(len(order)) < 0.5
    columns: dict[str, Any] = {
        "source": network.ids.take(pa.array(np.where(turned, second, first))),
        "target": network.ids.take(pa.array(np.where(turned, first, second))),
    }
    weights = np.asarray(upper.data)[order]
    if (weights != 1).any():
        columns["weight"] = pa.array(weights)
    return pa.table(columns)


def anchor_table(left: Network, right: Network, anchors: Any) -> pa.Table:
    """Pairs of accounts as the ids in columns `left`, `right`, in the order given."""
    pairs = as_pairs(anchors)
    return pa.table({"left": left.ids.take(pa.array(pairs[:, 0])), "right": right.ids.take(pa.array(pairs[:, 1]))})
