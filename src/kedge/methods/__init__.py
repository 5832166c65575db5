"""The methods that score pairs, by name. A method's module is imported when it runs, not before."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Protocol

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.threads import one_blas_thread
from kedge.types import Problem
from kedge.workshop import Shelf, Workshop

__all__ = [
    "ABOUT",
    "EVIDENCED",
    "HYPERGRAPHED",
    "METHODS",
    "Method",
    "evidenced",
    "prepare",
    "recall_alignment",
    "settle",
    "trains",
]

_WORKSHOP: Final = ("mgcn", "kedge", "gcn", "hgnn", "autoencoder", "deepwalk", "deeplink")  # vectors without anchors


class Method(Protocol):
    """Scores the pairs of a problem; it sees the observed anchors and nothing else."""

    def __call__(self, problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Alignment:
        """The alignment of the two networks; what it finds in the workshop it need not do again."""
        ...


def _later(module: str) -> Method:
    """The module's `align`, imported at its first call: `kedge --help` must not wait for torch."""

    def run(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Alignment:
        method: Any = import_module(f"kedge.methods.{module}").align
        with one_blas_thread():
            found: Alignment = (
                method(problem, config, seed, workshop) if module in _WORKSHOP else method(problem, config, seed)
            )
        return found

    return run


# name -> what it is, with paper and venue; the module has the same name with underscores.
ABOUT: Final[dict[str, str]] = {
    "kedge": "evidence, with nearness in sketches of the networks as its prior (the default)",
    "evidence": "evidence from matched neighbours, spread in rounds",
    "mgcn": "multi-level graph convolution on hypergraphs (MGCN, KDD 2020)",
    "common-neighbours": "anchored neighbours in common, by rarity (after Adamic and Adar, 2003)",
    "autoencoder": "gravity-inspired graph autoencoder (Salha et al., CIKM 2019)",
    "mah": "manifold alignment on hypergraph (Tan et al., AAAI 2014)",
    "deepwalk": "random walks and skip-gram (Perozzi et al., KDD 2014)",
    "gcn": "graph convolution (Defferrard et al., NIPS 2016; Kipf and Welling, ICLR 2017)",
    "pale": "edge likelihood, then a linear map (PALE, Man et al., IJCAI 2016)",
    "pale-mlp": "edge likelihood, then a two-layer map (PALE, Man et al., IJCAI 2016)",
    "hgnn": "hypergraph neural network (Feng et al., AAAI 2019)",
    "isorank": "similar neighbours, by random walks on pairs (Singh et al., PNAS 2008)",
    "netalign": "belief propagation for overlapping edges (Bayati et al., ICDM 2009)",
    "final": "consistent neighbours of aligned pairs (FINAL, Zhang and Tong, KDD 2016)",
    "regal": "structural vectors of both networks, no anchors (REGAL, Heimann et al., CIKM 2018)",
    "ione": "input-output vectors that anchors share (IONE, Liu et al., IJCAI 2016)",
    "deeplink": "walks, skip-gram and dual maps (DeepLink, Zhou et al., INFOCOM 2018)",
    "dalaup": "joint vectors for active learning (DALAUP, Cheng et al., IJCAI 2019)",
    "user-matching": "most witnesses, from high degrees to low (Korula and Lattanzi, VLDB 2014)",
    "percolation": "expand-when-stuck percolation (Kazemi et al., VLDB 2015)",
    "faq": "seeded graph matching (FAQ, Vogelstein et al., PLOS ONE 2015)",
    "parrot": "position-aware optimal transport (PARROT, Zeng et al., WWW 2023)",
}

METHODS: Final[dict[str, Method]] = {name: _later(name.replace("-", "_")) for name in ABOUT}

EVIDENCED: Final = ("evidence", "kedge")  # methods that can say why: their modules have hear, scores, recall and settle


HYPERGRAPHED: Final = ("kedge", "mgcn", "hgnn")  # methods that look at a user's own hyperedges


def evidenced(name: str) -> Any | None:
    """The module of a method that leaves evidence of single neighbours; None where it leaves none."""
    return import_module(f"kedge.methods.{name}") if name in EVIDENCED else None


def trains(config: Config) -> bool:
    """Whether a settled method trains vectors of the two networks."""
    trained = config.pairing.use == "yes" and config.pairing.vectors == "mgcn"
    return config.method == "mgcn" or (config.method == "kedge" and trained)


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """What a method decides once for a problem, before it runs on it with more and fewer anchors."""
    module = evidenced(config.method)
    if module is None:
        return config
    with one_blas_thread():
        settled: Config = module.settle(problem, config, seed, workshop)
    return settled


def prepare(problem: Problem, config: Config, seed: int, workshop: Workshop) -> dict[str, Any]:
    """What an embedding method does once, before it runs with more and fewer anchors: both networks' vectors go onto
    the workshop's shelf. What is known of them, by the name of its artefact: `training` and `parts`."""
    known: dict[str, Any] = import_module("kedge.methods.mgcn").prepare(problem, config, seed, workshop)
    return known


def recall_alignment(problem: Problem, config: Config, shelf: Shelf) -> Alignment | None:
    """The cosines of the vectors that a finished run left on its shelf; None where it left none."""
    name = "mgcn" if config.method == "mgcn" else "kedge"
    found: Alignment | None = import_module(f"kedge.methods.{name}").recall_alignment(
        problem, config, config.seed, shelf
    )
    return found
