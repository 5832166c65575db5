"""MGCN over two networks at once: vectors whose coordinates are known pairs, so that both networks share them.

X^0 has one column for each known pair (a, b): 1 at account a of the left network and at account b of the right one, 0
elsewhere. Both levels convolve it in each network, with the same weights, and column e means the same person in both:

    simple level      C = g I + (1 - g) D^-1/2 A D^-1/2       X_s = C X^0, one gated convolution (Eq. 1-4, 7)
    hypergraph level  H: one hyperedge around each account     X_h = D^-1/2 H X^0, Θ's factor (Eq. 5, 8, 9)

H X^0 are the columns of H around the accounts of known pairs: the paper's anchor-based hypergraph. The activation is
the logarithm of how much larger an entry is than the mean of its column, and a level's rows have length 1:

    σ(x_ve) = log(ε + x_ve / mean_v x_ve)

An account's vector is [X_s, X_h, w z_v] with z_v = log(1 + d_v), centred and scaled by its standard deviation. Where
`hypergraph.builders` has profiles, the values that accounts of both networks have are coordinates too: a third level
with the same activation, by which rare values count for more. An account without any has none of its coordinates.
Other builders are further levels with the same activation, since hyperedges around or with the accounts of known pairs
mean the same in both networks: `nearest` and a sized `neighbourhood` as H X^0, `communities` as H D_e^-1 H^T X^0.
Nothing is trained: the paper's W and F are I. Only the entries above log ε are stored, and a row keeps its largest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numba
import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, hstack

from kedge.config import Config, HypergraphConfig, SharedConfig
from kedge.context import Cache, CacheEntry, digest, get_or_make
from kedge.hypergraph import BUILDERS
from kedge.hypergraph.neighbourhood import surround
from kedge.linalg import join_csr, normalise, pattern, split_csr
from kedge.types import BoolArray, FloatArray, Hypergraph, IntArray, Network, Problem

_MOST_MEMBERS: Final = 50_000_000  # memberships of all hyperedges, 8 bytes each: beyond, hyperedges get smaller
_LEAST: Final = 1e-12


@dataclass(frozen=True)
class Levels:
    """The operators of one network, [n, n] each, the column of an account being what it gives to others.

    `simple` is C, `hypergraph` is D^-1/2 H; `standing` [n] is z; `values` [n, values of profiles], 1 where an account
    has the value; `further` are those of other builders, each a chain of factors.
    """

    simple: csc_array
    hypergraph: csc_array
    standing: FloatArray
    values: csc_array | None = None
    further: tuple[tuple[csc_array, ...], ...] = ()


@dataclass(frozen=True)
class Coordinates:
    """Vectors of length 1 in coordinates of known pairs: sparse entries [n, columns] and a dense tail [n, t].

    Entries that are not stored have the value log ε. The tail contains their part of a product, in the form that the
    left (`tail`) and the right vector (`mirrored`) have:

        cos(u, v) = entries_u · entries_v + tail_u · mirrored_v

    `widths`: the columns of each level.
    """

    entries: csr_array
    tail: FloatArray
    mirrored: FloatArray
    widths: tuple[int, ...] = ()

    @property
    def placed(self) -> IntArray:
        """The accounts that have any coordinate."""
        return np.flatnonzero(np.diff(self.entries.indptr))


def without_weights(problem: Problem) -> Problem:
    """The same with every edge as heavy as any other: evidence does not read weights, and nor does its prior."""
    left, right = (
        replace(side, adjacency=pattern(side.adjacency, np.float32)) for side in (problem.left, problem.right)
    )
    return replace(problem, left=left, right=right)


def prepare_levels(problem: Problem, config: Config, cache: Cache) -> tuple[Levels, Levels]:
    """The operators of both networks; they do not depend on anchors, so runs with fewer find them in the cache."""

    def prepare(network: Network, own: Hypergraph | None) -> Levels:
        weighed = network if own is None else _weigh_edges(network, own)
        settings = _walk_settings(config, network.n)

        def draw() -> CacheEntry:
            return CacheEntry(split_csr(surround(weighed, settings, np.arange(weighed.n)).H))

        H = join_csr(get_or_make(cache, _key_of_levels(weighed, settings), draw).arrays)
        assert H is not None
        return replace(levels_of(weighed, H, config.shared.own), further=further_levels(weighed, config))

    left, right = map(prepare, (problem.left, problem.right), problem.hypergraphs)
    if "profiles" not in config.hypergraph.names:
        return left, right
    values = common_values(problem, config.hypergraph.largest)
    return replace(left, values=values[0]), replace(right, values=values[1])


def recall_levels(problem: Problem, config: Config, cache: Cache) -> tuple[Levels, Levels] | None:
    """The operators by hyperedges from the cache alone; None where it does not have those of both networks, or where
    the user's own hyperedges weigh the edges."""
    both = (problem.left, problem.right)
    keys = [_key_of_levels(network, _walk_settings(config, network.n)) for network in both]
    if any(own is not None for own in problem.hypergraphs) or any(cache.get(key) is None for key in keys):
        return None
    return prepare_levels(problem, config, cache)


def _key_of_levels(network: Network, settings: HypergraphConfig) -> str:
    A = network.adjacency
    return digest(["levels", settings.model_dump(mode="json")], A.indptr, A.indices, A.data)


def place_both(levels: tuple[Levels, Levels], known: IntArray, config: Config) -> tuple[FloatArray, FloatArray]:
    """Vectors [n, d] of both networks by the known pairs [m, 2], compressed."""
    placed = [locate(levels[side], known[:, side], config.shared) for side in (0, 1)]
    left, right = (compress(side, config.mgcn.dimensions, config.seed) for side in placed)
    return left, right


def further_levels(network: Network, config: Config) -> tuple[tuple[csc_array, ...], ...]:
    """The operators of builders other than the plain `neighbourhood`, which is a level anyway, and `profiles`.

    `anchor` is that level. Centralities and codes have no column for a known pair, so they are no coordinates here; the
    degree is one already.
    """
    found: list[tuple[csc_array, ...]] = []
    for part, (name, own) in zip(config.hypergraph.builders.split("+"), config.hypergraph.each(), strict=True):
        if name == "communities":
            H = csc_array(BUILDERS[name].build(network, own, config.seed).H)
            size = np.diff(H.indptr)
            # Large communities would make every account a candidate of every other.
            H = csc_array(H[:, size <= config.shared.members])
            mean = diags_array(1 / np.maximum(np.diff(H.indptr), 1).astype(np.float32))
            found.append((H, csc_array(mean @ H.T.tocsc())))
        elif name == "nearest":
            found.append((csc_array(BUILDERS[name].build(network, own, config.seed).H),))
        elif name == "neighbourhood" and part != name:
            settings = _walk_settings(config, network.n).model_copy(update={"nearest": own.nearest})
            found.append((csc_array(surround(network, settings, np.arange(network.n)).H),))
    return tuple(found)


def common_values(problem: Problem, largest: int) -> tuple[csc_array | None, csc_array | None]:
    """Accounts × the values that 1 to `largest` accounts of either network have; None without any."""
    left, right = problem.shared_values
    if left is None or right is None:
        return None, None
    sizes = [np.bincount(own.H.indices, minlength=own.H.shape[1]) for own in (left, right)]
    kept = np.flatnonzero((np.minimum(*sizes) >= 1) & (np.maximum(*sizes) <= largest))
    if len(kept) == 0:
        return None, None
    V = [csc_array(csc_array(own.H)[:, kept]).astype(np.float32) for own in (left, right)]
    return V[0], V[1]


def _walk_settings(config: Config, n: int) -> HypergraphConfig:
    """Hyperedges for matching: large ones, since a partner is found by which known pairs are near."""
    settings = config.shared
    members = max(1, min(settings.members, _MOST_MEMBERS // max(1, n)))
    walk = {"nearest": members, "front": members, "restart": settings.restart, "hops": settings.hops, "sharpness": 1.0}
    return config.hypergraph.model_copy(update=walk)


def _weigh_edges(network: Network, own: Hypergraph) -> Network:
    """A ∘ (1 + H Hᵀ): an edge counts for more where its ends share hyperedges that the user gave (Eq. 3)."""
    from kedge.mgcn.layers import overlay  # loads torch

    A = network.adjacency.astype(np.float64)
    return Network(csr_array(A + overlay(A, csr_array(own.H))).astype(np.float32), network.ids)


def levels_of(network: Network, H: csr_array, own: float) -> Levels:
    """C with g = `own`, D^-1/2 H and z."""
    S = normalise(network.adjacency.astype(np.float64), 0.5, 0.5)
    simple = (own * eye_array(network.n) + (1 - own) * S).astype(np.float32)
    # A walk from c is at v with P^t[c, v] = S^t[c, v] (d_v / d_c)^1/2, so D^-1/2 makes it a convolution by S.
    strength = np.asarray(network.adjacency.sum(axis=1)).ravel()
    scale = np.divide(1.0, np.sqrt(strength), out=np.ones(network.n), where=strength > 0)
    standing = np.log1p(network.degrees)
    standing = (standing - standing.mean()) / max(float(standing.std()), _LEAST)
    return Levels(csc_array(simple), csc_array(diags_array(scale.astype(np.float32)) @ H), standing.astype(np.float32))


def locate(levels: Levels, accounts: IntArray, settings: SharedConfig) -> Coordinates:
    """The vectors of one network, `accounts` [m] being its side of the known pairs."""
    both = {"simple": levels.simple, "hypergraph": levels.hypergraph}
    chosen = [csc_array(operator[:, accounts]) for name, operator in both.items() if settings.levels in ("both", name)]
    chosen += [_columns(factors, accounts) for factors in levels.further]
    weights: list[FloatArray] = [np.ones(len(levels.standing)) for _ in chosen]
    if levels.values is not None:
        has = np.bincount(levels.values.indices, minlength=len(levels.standing)) > 0
        chosen.append(levels.values)
        weights.append(settings.profiles * has)
    absent = float(np.log(settings.contrast))
    entries, tails, mirrored = [], [], []
    length = np.sqrt(np.square(weights).sum(axis=0) + np.square(settings.degree * levels.standing))
    for columns, weight in zip(chosen, weights, strict=True):
        m = columns.shape[1]
        X = _trim(_log_ratios(columns, settings.contrast), settings.entries)
        total = np.asarray(X.sum(axis=1)).ravel()
        square = np.asarray(X.multiply(X).sum(axis=1)).ravel() + 2 * absent * total + absent**2 * m
        scale = weight / (np.sqrt(np.maximum(square, _LEAST)) * length)
        entries.append(csr_array(diags_array(scale.astype(np.float32)) @ X))
        # (x + a 1) · (y + b 1) = x · y + Σx b + a (Σy + m b)
        x_total, a = scale * total, scale * absent
        tails += [x_total, a]
        mirrored += [a, x_total + m * a]
    of_degree = settings.degree * levels.standing / length
    tail, other = (np.column_stack([*given, of_degree]).astype(np.float32) for given in (tails, mirrored))
    widths = tuple(columns.shape[1] for columns in chosen)
    return Coordinates(csr_array(hstack(entries, format="csr")), tail, other, widths)


def _columns(factors: tuple[csc_array, ...], accounts: IntArray) -> csc_array:
    """The columns of some accounts of a product, [n, m]."""
    *others, last = factors
    found = csc_array(last[:, accounts])
    for factor in reversed(others):
        found = csc_array(factor @ found)
    return found


def compress(placed: Coordinates, dimensions: int, seed: int) -> FloatArray:
    """The vectors [n, dimensions] by a random projection that both networks share: cosines up to 1 / √dimensions."""
    rng = np.random.default_rng(seed)
    levels = len(placed.widths)
    drawn = rng.standard_normal((sum(placed.widths), dimensions), np.float32)
    absent = [part.sum(axis=0) for part in np.split(drawn, np.cumsum(placed.widths)[:-1])]
    further = np.vstack([absent, rng.standard_normal((1, dimensions), np.float32)])
    X = placed.entries @ drawn + placed.tail[:, [*range(1, 2 * levels, 2), -1]] @ further
    X[np.diff(placed.entries.indptr) == 0] = 0.0
    return np.asarray(X, np.float32)


def _log_ratios(X: csc_array, contrast: float) -> csr_array:
    """log(ε + x_ve / mean_v x_ve) - log ε where x_ve > 0, as rows."""
    mean = np.maximum(np.asarray(X.sum(axis=0)).ravel() / X.shape[0], _LEAST)
    ratio = X.data / np.repeat(mean, np.diff(X.indptr))
    return csr_array(csc_array((np.log1p(ratio / contrast).astype(np.float32), X.indices, X.indptr), X.shape).tocsr())


def _trim(X: csr_array, most: int) -> csr_array:
    """The `most` largest entries of each row, and those that tie with the last of them."""
    kept = _at_least(X.indptr, X.data, most)
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    return csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _at_least(indptr: IntArray, data: FloatArray, k: int) -> BoolArray:
    kept = np.ones(len(data), np.bool_)
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        if last - first > k:
            border = np.partition(data[first:last], last - first - k)[last - first - k]
            for place in range(first, last):
                kept[place] = data[place] >= border
    return kept
