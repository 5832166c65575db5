"""Hypergraphs drawn from a network, one file per builder, all in `BUILDERS`; a user's own; a report on the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array, hstack

from kedge.config import AUTO, HYPERGRAPHS, HypergraphConfig
from kedge.hypergraph.nearest import around
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network

_DEGENERATE = 0.9  # coverage above which a hypergraph is reported; unmeasured


class Build(Protocol):
    """Hyperedges of a network; `anchors` are the accounts of this network that are in an anchor, `shared_values` which
    of its accounts have a value of profiles in common."""

    def __call__(
        self,
        network: Network,
        config: HypergraphConfig,
        seed: int = 0,
        anchors: IntArray | None = None,
        shared_values: Hypergraph | None = None,
    ) -> Hypergraph:
        """Draw the hyperedges."""
        ...


class Builder(NamedTuple):
    """One way to draw hyperedges."""

    name: str
    about: str
    build: Build


BUILDERS: Final[Mapping[str, Builder]] = {
    name: Builder(name, about, import_module(f"{__name__}.{name}").build) for name, about in HYPERGRAPHS.items()
}


class DegenerateHypergraphWarning(UserWarning):
    """Nearly every account is in nearly every hyperedge."""


@dataclass(frozen=True)
class Drawn:
    """The hypergraph of each builder, with the settings that it has."""

    parts: tuple[tuple[str, HypergraphConfig, Hypergraph], ...]

    def united(self, vectors: FloatArray | None = None) -> Hypergraph:
        """All hyperedges side by side; those of `nearest` drawn anew where other vectors [n, d] are given."""
        return unite(
            [
                around(vectors, own.similar) if name == "nearest" and vectors is not None else hypergraph
                for name, own, hypergraph in self.parts
            ]
        )


def draw_each(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Drawn:
    """What each of `config.builders` draws, in their order."""
    if config.builders == AUTO:
        raise KedgeError(
            "hypergraph.builders = auto is chosen by fits of MGCN, and this method has none",
            remedy="use the method mgcn or kedge embed, or name builders",
        )
    return Drawn(
        tuple(
            (name, own, BUILDERS[name].build(network, own, seed, anchors, shared_values)) for name, own in config.each()
        )
    )


def build_hypergraph(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """The union of `config.builders`, in their order."""
    return draw_each(network, config, seed, anchors, shared_values).united()


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


@dataclass(frozen=True)
class Report:
    """Figures of a hypergraph: `smallest`, `median`, `largest` are hyperedge sizes; `outside` are accounts in none."""

    accounts: int
    hyperedges: int
    memberships: int
    coverage: float
    smallest: int
    median: float
    largest: int
    outside: int
    bytes: int
    warning: str


def report(hypergraph: Hypergraph) -> Report:
    """Coverage, sizes and memory of a hypergraph, and a warning where hyperedges hardly differ."""
    H = hypergraph.H
    sizes = np.bincount(H.indices, minlength=H.shape[1])
    warning = ""
    # One hyperedge of all accounts is a plain GCN and intended; many equal ones carry no information.
    if hypergraph.coverage > _DEGENERATE and hypergraph.hyperedges > 1:
        warning = (
            f"degenerate hypergraph: its hyperedges cover {hypergraph.coverage:.2f} of all accounts, so that they "
            f"hardly differ; set hypergraph.nearest to 32, or hypergraph.hops lower"
        )
    return Report(
        accounts=hypergraph.n,
        hyperedges=hypergraph.hyperedges,
        memberships=int(H.nnz),
        coverage=hypergraph.coverage,
        smallest=int(sizes.min(initial=H.shape[0])) if len(sizes) else 0,
        median=float(np.median(sizes)) if len(sizes) else 0.0,
        largest=int(sizes.max(initial=0)),
        outside=int((np.diff(H.indptr) == 0).sum()),
        bytes=int(H.data.nbytes + H.indices.nbytes + H.indptr.nbytes),
        warning=warning,
    )
