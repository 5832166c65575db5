"""The vectors of a network's parts in one space (Eq. 12), by the accounts that all of them share.

    maximise Σ_p Σ_{i shared} log σ( (x_i^(p) R_p) · x_i^(1) )

As printed it grows without bound with R. `procrustes` (default): the rotation R_p nearest to the reference, in closed
form, once to the reference part and then twice to the mean of all, so that the noise of one part is not the reference.
`paper`: the printed objective over matrices of the norm of a rotation, by projected gradient ascent.

Where there is a sketch of the whole network, it is the reference, and every account of a part is shared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import normalise, row_index
from kedge.types import FloatArray, IntArray, Network

_MISFIT: Final = 0.6  # 1 - correlation with the other parts; unrelated vectors have about 0.7; unmeasured
_PAPER_STEPS: Final = 200  # of projected ascent; unmeasured

How = Literal["procrustes", "paper"]


@dataclass(frozen=True)
class PartVectors:
    """One trained part: its accounts, their vectors [k, d], and each one's number of edges inside the part."""

    accounts: IntArray
    vectors: FloatArray
    degrees: IntArray


@dataclass(frozen=True)
class Reconciled:
    """Vectors of the whole network [n, d], the residual of each part on the shared accounts, and notes."""

    vectors: FloatArray
    residuals: FloatArray
    notes: tuple[str, ...]


def procrustes_map(X: FloatArray, Y: FloatArray) -> FloatArray:
    """The orthogonal R that minimises |X R - Y|², [d, d]."""
    U, _, Vt = np.linalg.svd(X.T.astype(np.float64) @ Y)
    return np.asarray(U @ Vt)


def paper_map(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Eq. 12 for one part: argmax_R Σ_i log σ((x_i R) · y_i) with |R|_F = √d, by projected gradient ascent from I."""
    d = X.shape[1]
    R = np.eye(d)
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    step = 1.0
    value = -np.inf
    for _ in range(_PAPER_STEPS):
        dots = np.einsum("ij,ij->i", X @ R, Y)
        now = float(-np.logaddexp(0, -dots).sum())
        # Halve the step where it overshot; the objective is concave and the sphere is smooth.
        step = step * 1.1 if now >= value else step / 2
        value = now
        slope = X.T @ (Y / (1 + np.exp(dots))[:, None])
        R = R + step * slope / max(float(np.linalg.norm(slope)), 1e-12)
        R *= np.sqrt(d) / np.linalg.norm(R)
    return R


_FITS: Final = {"procrustes": procrustes_map, "paper": paper_map}


def reconcile_parts(
    parts: Sequence[PartVectors], home: IntArray, shared: IntArray, how: How = "procrustes"
) -> Reconciled:
    """One space for all parts; `home[v]` is the part of account v.

    The reference is the largest part. An account in several parts gets the mean of its rotated vectors, each weighed
    by its number of edges in that part.
    """
    d = parts[0].vectors.shape[1]
    n = len(home)
    if len(parts) == 1:
        whole = np.zeros((n, d), np.float32)
        whole[parts[0].accounts] = parts[0].vectors
        return Reconciled(whole, np.zeros(1), ())
    places = [np.searchsorted(part.accounts, shared) for part in parts]
    common = [part.vectors[place] for part, place in zip(parts, places, strict=True)]
    reference = int(np.argmax([len(part.accounts) for part in parts]))
    fit = _FITS[how]
    target = common[reference]
    maps = [np.eye(d) if p == reference else fit(X, target) for p, X in enumerate(common)]
    if how == "procrustes" and len(shared):
        for _ in range(2):
            target = np.mean([_of_norm_one(X @ R) for X, R in zip(common, maps, strict=True)], axis=0)
            maps = [procrustes_map(X, target) for X in common]
    residuals = _residuals([_of_norm_one(X @ R) for X, R in zip(common, maps, strict=True)])
    total, weight = np.zeros((n, d)), np.zeros(n)
    for part, R in zip(parts, maps, strict=True):
        trust = np.maximum(part.degrees, 1e-3)
        total[part.accounts] += trust[:, None] * (part.vectors @ R)
        weight[part.accounts] += trust
    vectors = (total / np.maximum(weight, 1e-12)[:, None]).astype(np.float32)
    return Reconciled(vectors, residuals, _misfits(parts, residuals))


def rotate_onto_sketch(
    parts: Sequence[PartVectors], home: IntArray, sketch: FloatArray, how: How = "procrustes"
) -> Reconciled:
    """Each part's own accounts rotated onto their rows of the sketch [n, d]; halo accounts count in their own parts.

    `procrustes`: argmin over orthogonal R_p of Σ_{v in p} |x_v R_p - s_v|². A residual is
    1 - the correlation after that.
    """
    vectors = np.zeros((len(home), parts[0].vectors.shape[1]), np.float32)
    residuals = np.zeros(len(parts))
    for p, part in enumerate(parts):
        own = home[part.accounts] == p
        members, X = part.accounts[own], part.vectors[own]
        vectors[members] = X @ _FITS[how](X, sketch[members])
        fits = (_of_norm_one(vectors[members].astype(np.float64)) * _of_norm_one(sketch[members])).sum()
        residuals[p] = 1 - float(fits)
    return Reconciled(vectors, residuals, _misfits(parts, residuals))


def _misfits(parts: Sequence[PartVectors], residuals: FloatArray) -> tuple[str, ...]:
    return tuple(
        f"part {p} ({len(parts[p].accounts)} accounts) does not fit the others: residual {residuals[p]:.2f}"
        for p in np.flatnonzero(residuals > _MISFIT).tolist()
    )


def _of_norm_one(X: FloatArray) -> FloatArray:
    """So that a part with long vectors does not count for more than the others."""
    return X / max(float(np.linalg.norm(X)), 1e-12)


def _residuals(moved: Sequence[FloatArray]) -> FloatArray:
    """1 - the correlation of each part's shared vectors with the mean of the other parts'; 1: they are unrelated."""
    total = np.sum(moved, axis=0)
    return np.array([1 - float((X * _of_norm_one(total - X)).sum()) for X in moved])


def refine_boundary(network: Network, part: IntArray, X: FloatArray, steps: int) -> FloatArray:
    """x_v <- (1 - λ_v) x_v + λ_v · mean of x over v's neighbours in other parts, λ_v = half their share; repeated.

    The paper does not use the edges between parts. Each account moves towards the mean of its neighbours in other
    parts, the more the larger their share among its edges.
    """
    if steps == 0 or len(part) == 0 or part.max() == 0:
        return X
    adjacency = network.adjacency
    rows = row_index(network.adjacency)
    outside = part[rows] != part[adjacency.indices]
    ends = (rows[outside], adjacency.indices[outside])
    crossing = csr_array((np.ones(len(ends[0]), np.float32), ends), shape=adjacency.shape)
    count = np.diff(crossing.indptr)
    pull = (0.5 * count / np.maximum(network.degrees, 1)).astype(np.float32)[:, None]
    mean = normalise(crossing, rows=1)
    for _ in range(steps):
        X = (1 - pull) * X + pull * (mean @ X)
    return X
