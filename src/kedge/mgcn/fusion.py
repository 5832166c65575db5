"""Convolution within every hyperedge at once, and the dense layer that fuses them (Eq. 1, 3 and 4), sparsely.

Row v of X_e is 0 unless v is in e, so only the memberships (v, e) are computed: Σ_e nnz(Â[e, e]) products in all,
never n × m. Memberships are worked through in chunks whose activations stay in the cache and are made again in the
backward pass, so memory does not grow with the number of hyperedges.

The input of layer k+1 is the fused X^{k+1}_simple for every hyperedge, which S_e then restricts to e.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from kedge.linalg import row_index
from kedge.linalg.spmm import Rows, Sparse, cut_strips, multiply, spmm
from kedge.mgcn.layers import ACTIVATIONS
from kedge.types import Hypergraph


@dataclass(frozen=True)
class Chunk:
    """The memberships (v, e) of accounts first..last, ordered by v then e.

    `local` [pairs, n] holds the rows A_e[v, :] of Eq. 3; `sums` [accounts, pairs] adds up each account's rows;
    `edge` is each pair's hyperedge.
    """

    first: int
    last: int
    local: Sparse
    sums: Rows
    edge: Tensor


def chunks(A_hat: csr_array, hypergraph: Hypergraph, size: int = 16384) -> tuple[Chunk, ...]:
    """A_e = S_e Â S_e (Eq. 3) for every hyperedge, its rows sorted by account and cut into chunks of about `size`."""
    return tuple(_cut(A_hat, hypergraph, size))


def _cut(A_hat: csr_array, hypergraph: Hypergraph, size: int) -> Iterator[Chunk]:
    H = csr_array(hypergraph.H.astype(np.float64))
    members = csr_array(H.T.tocsr())  # one row per hyperedge
    first = 0
    while first < H.shape[0]:
        last = max(first + 1, int(np.searchsorted(H.indptr, H.indptr[first] + size, side="right")) - 1)
        mine = H[first:last]
        account = first + row_index(mine)
        rows = A_hat[account].multiply(members[mine.indices]).tocsr()
        rows = csr_array(rows.multiply(mine.data[:, None]).tocsr())
        rows.sort_indices()
        sums = Rows(
            torch.from_numpy(mine.indptr.astype(np.int32)),
            torch.arange(len(account), dtype=torch.int32),
            torch.ones(len(account)),
        )
        edge = torch.from_numpy(mine.indices.astype(np.int64))
        yield Chunk(first, last, Sparse.of(rows), sums, edge)
        first = last


def _take_back(activation: str, G: Tensor, Z: Tensor) -> Tensor:
    """G ∘ σ'(·), given Z = σ(·); G is written over."""
    if activation == "relu":
        torch.ops.aten.threshold_backward.grad_input(G, Z, 0, grad_input=G)
    elif activation == "tanh":
        torch.ops.aten.tanh_backward.grad_input(G, Z, grad_input=G)
    return G


class _Mixed(torch.autograd.Function):
    """[n, b, d] of Σ_e a[e, b] σ(A_e Y), chunk by chunk; with a = None the plain sum, [n, 1, d].

    Columns meet nowhere, so each strip of them, small enough for the cache, goes through all chunks by itself.
    """

    @staticmethod
    def forward(ctx: Any, Y: Tensor, a: Tensor | None, parts: tuple[Chunk, ...], activation: str) -> Tensor:
        width = 1 if a is None else a.shape[1]
        out = Y.new_zeros(len(Y), width, Y.shape[1])
        for columns in cut_strips(Y):
            strip = Y[:, columns].contiguous()
            for part in parts:
                Z = ACTIVATIONS[activation](multiply(part.local.forward, strip))
                for b in range(width):
                    weights = part.sums.values if a is None else a[part.edge, b].contiguous()
                    rows = Rows(part.sums.offsets, part.sums.indices, weights)
                    out[part.first : part.last, b, columns] = multiply(rows, Z)
        ctx.save_for_backward(Y, a) if a is not None else ctx.save_for_backward(Y)
        ctx.parts, ctx.activation = parts, activation
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        Y, *rest = ctx.saved_tensors
        a = rest[0] if rest else None
        (gradient,) = gradients
        into_Y = torch.empty_like(Y)
        into_a = None if a is None else torch.zeros_like(a)
        for columns in cut_strips(Y):
            strip = Y[:, columns].contiguous()
            into_strip = torch.zeros_like(strip)
            for part in ctx.parts:
                Z = ACTIVATIONS[ctx.activation](multiply(part.local.forward, strip))
                above = gradient[part.first : part.last, :, columns]
                owner = torch.repeat_interleave(part.sums.offsets.diff().long(), output_size=len(part.edge))
                if a is None:
                    G = above[:, 0].index_select(0, owner)
                else:
                    each = above[owner]  # [pairs, b, d]
                    G = torch.einsum("pb,pbd->pd", a[part.edge], each)
                    assert into_a is not None
                    into_a.index_add_(0, part.edge, torch.einsum("pd,pbd->pb", Z, each))
                into_strip += multiply(part.local.backward, _take_back(ctx.activation, G, Z))
            into_Y[:, columns] = into_strip
        return into_Y, into_a, None, None


def _times(X: Tensor, W: Tensor | None) -> Tensor:
    return X if W is None else X @ W


def fuse_sum(
    parts: tuple[Chunk, ...], X: Tensor, W: Tensor | None, F: Tensor | None, activation: str = "relu"
) -> Tensor:
    """X^{k+1}_simple = (Σ_e σ(A_e X^k W^k)) F (Eq. 1 and 4 with one F: the paper's prose, "summation"), [n, d].

    None stands for I, here and below.
    """
    mixed = cast(Tensor, _Mixed.apply(_times(X, W), None, parts, activation))  # type: ignore[no-untyped-call]
    return _times(mixed[:, 0], F)


def fuse_basis(
    parts: tuple[Chunk, ...], X: Tensor, W: Tensor | None, a: Tensor, B: Tensor, activation: str = "relu"
) -> Tensor:
    """X^{k+1}_simple = Σ_e σ(A_e X^k W^k) F_e with F_e = Σ_b a[e, b] B_b (Eq. 1 and 4), [n, d].

    a is [m, b] and B [b, d, d]: a block for each of very many hyperedges out of a few shared ones.
    """
    mixed = cast(Tensor, _Mixed.apply(_times(X, W), a, parts, activation))  # type: ignore[no-untyped-call]
    return mixed.flatten(1) @ B.flatten(0, 1)


@dataclass(frozen=True)
class Block:
    """One hyperedge: its accounts (None: all), p(v, e) of each, and the symmetric Â[e, e]."""

    members: Tensor | None
    p: Tensor
    A: Sparse


def blocks(A_hat: csr_array, hypergraph: Hypergraph) -> tuple[Block, ...]:
    """S_e (Eq. 2) and Â[e, e] of each hyperedge, for few or large hyperedges; those of all accounts share one Â."""
    H = csr_array(hypergraph.H.T.tocsr())
    whole = Sparse.of(A_hat, symmetric=True)
    found = []
    for e in range(H.shape[0]):
        inside = slice(H.indptr[e], H.indptr[e + 1])
        members = H.indices[inside].astype(np.int64)
        p = torch.from_numpy(H.data[inside].astype(np.float32))[:, None]
        if len(members) == H.shape[1]:
            found.append(Block(None, p, whole))
        else:
            A = Sparse.of(csr_array(A_hat[members][:, members]), symmetric=True)
            found.append(Block(torch.from_numpy(members), p, A))
    return tuple(found)


class _Concat(torch.autograd.Function):
    """Σ_e σ(A_e Y) F_e, hyperedge by hyperedge, nothing kept between them."""

    @staticmethod
    def forward(ctx: Any, Y: Tensor, F: Tensor, parts: tuple[Block, ...], activation: str) -> Tensor:
        out = torch.zeros_like(Y)
        for part, F_e in zip(parts, F, strict=True):
            Z = _within(part, Y, activation)
            if part.members is None:
                out.addmm_(Z, F_e)
            else:
                out.index_add_(0, part.members, Z @ F_e)
        ctx.save_for_backward(Y, F)
        ctx.parts, ctx.activation = parts, activation
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        Y, F = ctx.saved_tensors
        (gradient,) = gradients
        into_Y, into_F = torch.zeros_like(Y), torch.empty_like(F)
        for e, part in enumerate(ctx.parts):
            Z = _within(part, Y, ctx.activation)
            G = gradient if part.members is None else gradient[part.members]
            into_F[e] = Z.T @ G
            G = _take_back(ctx.activation, G @ F[e].T, Z)
            G = multiply(part.A.backward, G.mul_(part.p)).mul_(part.p)
            if part.members is None:
                into_Y += G
            else:
                into_Y.index_add_(0, part.members, G)
        return into_Y, into_F, None, None


def _within(part: Block, Y: Tensor, activation: str) -> Tensor:
    """The rows of σ(S_e Â S_e Y) that belong to e (Eq. 1)."""
    inside = Y if part.members is None else Y[part.members]
    return ACTIVATIONS[activation](multiply(part.A.forward, inside * part.p).mul_(part.p))


def fuse_concat(parts: tuple[Block, ...], X: Tensor, W: Tensor | None, F: Tensor, activation: str = "relu") -> Tensor:
    """X^{k+1}_simple = f(⊕_e σ(A_e X^k W^k)) = Σ_e σ(A_e X^k W^k) F_e (Eq. 1 and 4 to the letter), [n, d].

    F is [m, d, d], the dense layer's block of each hyperedge: for up to a few hundred hyperedges.
    """
    return cast(Tensor, _Concat.apply(_times(X, W), F, parts, activation))  # type: ignore[no-untyped-call]


def fuse_linear(overlaid: Sparse, X: Tensor, W: Tensor | None, F: Tensor | None, activation: str = "relu") -> Tensor:
    """X^{k+1}_simple = σ((Σ_e A_e) X^k W^k) F (Eq. 4 with the sum before σ), [n, d]; Σ_e A_e = Â ∘ (H Hᵀ)."""
    Z = ACTIVATIONS[activation](spmm(overlaid, _times(X, W)))
    return _times(Z, F)
