"""The methods that score pairs: one frozen record each, in one visible registry.

A record states what a method is and can do; its module has the functions. The module is imported when the method
runs, not before: `kedge --help` must not wait for torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from kedge.config import Config
from kedge.context import Cache, RunContext, need_extra, one_blas_thread
from kedge.errors import did_you_mean
from kedge.profiles import exchange_sides
from kedge.types import Alignment, KedgeError, Network, Problem

__all__ = ["METHODS", "Method", "find_method"]


@dataclass(frozen=True)
class Method:
    """A method and its capabilities; its module is `kedge.methods.NAME`, with underscores for hyphens.

    Every module has `align`. A capability that needs a function of its own names it below; the contract test fails
    where a record claims what its module does not have.
    """

    name: str
    about: str
    paper: str
    needs_anchors: bool = False  # refuses a problem without anchors
    scores_every_pair: bool = False  # holds matrices of n_1 × n_2 cells, so refuses more than `baselines.dense_cells`
    explains: bool = False  # its alignment has `support`, so that `kedge explain` shows single neighbours
    reads_hypergraphs: bool = False  # makes use of hyperedges that the user gives
    reads_profiles: bool = False  # makes use of what else is known of accounts
    reads_weights: bool = False  # its scores depend on the weights of edges, not only on which edges there are
    settings: tuple[str, ...] = ()  # the groups of settings that it reads, without those that every method reads
    chooses_settings: bool = False  # module.choose_settings: what the user left open, chosen once for a problem
    embeds: bool = False  # vectors of the networks alone, from the cache where only anchors differ
    trains: bool = False  # module.trains and module.prepare: vectors that are trained before pairs are scored
    recalls_vectors: bool = False  # module.recall_vectors: cosines from the vectors that a finished run has cached
    divides: bool = False  # module.divides: rounds in blocks, on the engine and within the memory limit of the settings
    realigns: bool = False  # module.realign: where accounts have lost edges, at less CPU than `align`
    refines: bool = False  # module.refinements: how often evidence and prior are repeated, which costs CPU
    extra: str = ""  # the optional dependencies it needs, as in `pip install 'kedge[EXTRA]'`

    def check_installed(self) -> None:
        """Refuse a method whose libraries are not installed."""
        if self.extra:
            need_extra(self.extra, f"the method {self.name}")

    def _module(self) -> Any:
        self.check_installed()
        return import_module(f"{__name__}.{self.name.replace('-', '_')}")

    def align(self, problem: Problem, config: Config, context: RunContext | None = None) -> Alignment:
        """The alignment of the two networks, from the observed anchors and nothing else."""
        self._refuse(problem, config)
        with one_blas_thread():
            found: Alignment = self._module().align(*_in_one_order(problem, config), context or RunContext())
        return found.mirrored() if problem.exchanged else found

    def realign(self, problem: Problem, before: Alignment, config: Config, context: RunContext) -> Alignment:
        """The alignment of a problem whose accounts have lost edges; `before` is that of the whole one."""
        found: Alignment | None = None
        if self.realigns:
            with one_blas_thread():
                known = before.mirrored() if problem.exchanged else before
                found = self._module().realign(*_in_one_order(problem, config), known, context)
        if found is None:
            return self.align(problem, config, context)
        return found.mirrored() if problem.exchanged else found

    def _refuse(self, problem: Problem, config: Config) -> None:
        """Refuse a problem that the method cannot solve, before anything is allocated."""
        left, right, limit = problem.left.n, problem.right.n, config.baselines.dense_cells
        if self.scores_every_pair and left * right > limit:
            raise KedgeError(
                f"{self.name} scores every pair: {left:,} x {right:,} accounts are {left * right:,} cells, "
                f"above {limit:,}",
                remedy="use evidence, user-matching or an embedding method, or raise baselines.dense_cells",
            )
        if self.needs_anchors and len(problem.anchors) == 0:
            raise KedgeError(f"{self.name} needs anchors and there are none", remedy="give at least one known pair")

    def choose_settings(self, problem: Problem, config: Config, context: RunContext | None = None) -> Config:
        """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
        if self.chooses_settings:
            with one_blas_thread():
                found: Config = self._module().choose_settings(*_in_one_order(problem, config), context or RunContext())
            config = _exchanged(found) if problem.exchanged else found
        ordered = not self.trains or self.trains_vectors(config)  # mgcn's shared space has one order
        if self.embeds and config.pairing.score == "auto" and ordered:
            # Chosen once: scores of runs with fewer anchors are on the same scale.
            order = self.align(problem, config, context).ordered_by
            pairing = config.pairing.model_copy(update={"score": order or "auto"})
            return config.model_copy(update={"pairing": pairing})
        return config

    def trains_vectors(self, config: Config) -> bool:
        """Whether vectors are trained under these resolved settings."""
        return self.trains and bool(self._module().trains(config))

    def uses_engine(self, problem: Problem, config: Config) -> bool:
        """Whether the engine and its memory limit have an effect under these resolved settings."""
        return self.trains_vectors(config) or (self.divides and bool(self._module().divides(problem, config)))

    def groups(self, problem: Problem, config: Config) -> frozenset[str]:
        """The groups of settings that have an effect on the method; more of them where vectors are trained."""
        more = ("hypergraph", "mgcn", "partition") if self.trains_vectors(config) else ()
        if self.uses_engine(problem, config):
            more = (*more, "engine")
        fewer = {"shared"} if self.trains_vectors(config) else set()
        return frozenset({*self.settings, *more} - fewer)

    def prepare(self, problem: Problem, config: Config, context: RunContext) -> dict[str, Any]:
        """Train both networks' vectors into the cache; returns the report's `training` and `parts`."""
        with one_blas_thread():
            known: dict[str, Any] = self._module().prepare(*_in_one_order(problem, config), context)
        return known

    def recall_vectors(self, problem: Problem, config: Config, cache: Cache) -> Alignment | None:
        """The cosines of the vectors that a finished run has cached; None where it has none."""
        if not self.recalls_vectors:
            return None
        found: Alignment | None = self._module().recall_vectors(*_in_one_order(problem, config), cache)
        return found.mirrored() if found is not None and problem.exchanged else found

    def refinements(self, left: Network, right: Network, anchors: int, config: Config) -> int:
        """How often one run repeats evidence and prior at most; 0 for a method without them."""
        return int(self._module().refinements(left, right, anchors, config)) if self.refines else 0


# Most methods of the literature need torch, and those that embed need anchors to project by.
_torch = partial(Method, extra="mgcn")
_VECTORS: Final = ("hypergraph", "mgcn", "pairing")
_embeds = partial(_torch, needs_anchors=True, embeds=True, settings=_VECTORS)


def _in_one_order(problem: Problem, config: Config) -> tuple[Problem, Config]:
    """The problem as methods get it: which network is called left has no effect on a result."""
    return (problem.mirrored(), _exchanged(config)) if problem.exchanged else (problem, config)


def _exchanged(config: Config) -> Config:
    """The configuration with the two columns of each comparison of profiles exchanged."""
    if not config.profiles.compare:
        return config
    return config.model_copy(update={"profiles": exchange_sides(config.profiles)})


_RECORDS: Final = (
    Method(
        "kedge",
        "evidence, with vector similarity as its prior (the default)",
        "",
        explains=True,
        reads_hypergraphs=True,
        reads_profiles=True,
        chooses_settings=True,
        trains=True,
        recalls_vectors=True,
        realigns=True,
        refines=True,
        settings=("evidence", "hypergraph", "mgcn", "pairing", "partition", "shared"),
        divides=True,
    ),
    Method(
        "evidence",
        "evidence from matched neighbours, in rounds",
        "",
        explains=True,
        reads_profiles=True,
        chooses_settings=True,
        realigns=True,
        settings=("evidence",),
        divides=True,
    ),
    _torch(
        "mgcn",
        "multi-level graph convolution on hypergraphs",
        "MGCN, KDD 2020",
        reads_hypergraphs=True,
        chooses_settings=True,
        embeds=True,
        trains=True,
        recalls_vectors=True,
        reads_weights=True,
        settings=(*_VECTORS, "shared"),
    ),
    Method("common-neighbours", "anchored neighbours in common, by rarity", "after Adamic and Adar, 2003"),
    _embeds("autoencoder", "gravity-inspired graph autoencoder", "Salha et al., CIKM 2019", reads_weights=True),
    _embeds("mah", "manifold alignment on hypergraph", "Tan et al., AAAI 2014", settings=("pairing",)),
    _embeds("deepwalk", "random walks and skip-gram", "Perozzi et al., KDD 2014"),
    _embeds("node2vec", "biased random walks and skip-gram", "Grover and Leskovec, KDD 2016"),
    _embeds("line", "edges and shared neighbours against noise", "LINE, Tang et al., WWW 2015", reads_weights=True),
    _embeds("spectral", "Laplacian eigenmaps of each network", "Belkin and Niyogi, NIPS 2001"),
    _embeds("mds", "shortest paths, scaled to few dimensions", "Torgerson, 1952; de Silva and Tenenbaum, 2004"),
    _embeds("graph-factorisation", "vectors whose products are the edges", "Ahmed et al., WWW 2013"),
    _embeds(
        "gcn", "graph convolution", "Defferrard et al., NIPS 2016; Kipf and Welling, ICLR 2017", reads_weights=True
    ),
    _embeds(
        "pale", "edge likelihood, then a linear map", "PALE, Man et al., IJCAI 2016", settings=(*_VECTORS, "engine")
    ),
    _embeds(
        "pale-mlp",
        "edge likelihood, then a two-layer map",
        "PALE, Man et al., IJCAI 2016",
        settings=(*_VECTORS, "engine"),
    ),
    _embeds("hgnn", "hypergraph neural network", "Feng et al., AAAI 2019", reads_hypergraphs=True, reads_weights=True),
    _embeds(
        "hypergcn",
        "hyperedges as few weighted edges",
        "HyperGCN, Yadati et al., NeurIPS 2019",
        reads_hypergraphs=True,
        reads_weights=True,
    ),
    _embeds(
        "dhgnn", "hyperedges drawn anew from the current vectors", "Dynamic hypergraph NN, Jiang et al., IJCAI 2019"
    ),
    _torch(
        "isorank", "similar neighbours, by random walks on pairs", "Singh et al., PNAS 2008", scores_every_pair=True
    ),
    Method("netalign", "belief propagation for overlapping edges", "Bayati et al., ICDM 2009"),
    _torch(
        "final", "consistent neighbours of aligned pairs", "FINAL, Zhang and Tong, KDD 2016", scores_every_pair=True
    ),
    Method(
        "regal",
        "structural vectors of both networks, no anchors",
        "REGAL, Heimann et al., CIKM 2018",
        embeds=True,
        settings=("pairing",),
    ),
    Method(
        "ione",
        "input-output vectors that anchors share",
        "IONE, Liu et al., IJCAI 2016",
        needs_anchors=True,
        settings=("pairing",),
    ),
    _embeds("deeplink", "walks, skip-gram and dual maps", "DeepLink, Zhou et al., INFOCOM 2018"),
    _embeds(
        "dalaup",
        "joint vectors for active learning",
        "DALAUP, Cheng et al., IJCAI 2019",
        reads_weights=True,
        settings=("pairing",),
    ),
    Method("user-matching", "most witnesses, from high degrees to low", "Korula and Lattanzi, VLDB 2014"),
    Method("percolation", "expand-when-stuck percolation", "Kazemi et al., VLDB 2015"),
    Method("irma", "percolation, repaired by its own matching", "IRMA, Babayov and Louzoun, arXiv 2022"),
    Method("faq", "seeded graph matching", "FAQ, Vogelstein et al., PLOS ONE 2015", scores_every_pair=True),
    _embeds(
        "parrot",
        "position-aware optimal transport",
        "PARROT, Zeng et al., WWW 2023",
        scores_every_pair=True,
        embeds=False,
        settings=(),
    ),
    Method(
        "cosnet",
        "an energy of candidates and of their neighbours",
        "COSNET, Zhang et al., KDD 2015",
        reads_profiles=True,
    ),
    Method(
        "bass",
        "consistent ties and profiles, bootstrapped",
        "BASS, Cao and Yu, ECML-PKDD 2016",
        reads_profiles=True,
    ),
    _torch(
        "galign", "convolutions that noise must not change", "GAlign, Trung et al., ICDE 2020", settings=("pairing",)
    ),
    _torch(
        "nextalign",
        "near neighbours alike, other accounts apart",
        "NeXtAlign, Zhang et al., KDD 2021",
        needs_anchors=True,
        scores_every_pair=True,
    ),
    _torch(
        "joena",
        "optimal transport and embedding, alternating",
        "JOENA, Yu et al., WWW 2025",
        needs_anchors=True,
        scores_every_pair=True,
    ),
)

METHODS: Final[dict[str, Method]] = {method.name: method for method in _RECORDS}


def find_method(name: str) -> Method:
    """The method of this name, or one line with the known ones."""
    if name not in METHODS:
        remedy = did_you_mean(name, METHODS, f"choose one of: {', '.join(METHODS)}")
        raise KedgeError(f"no method {name!r}", remedy=remedy)
    return METHODS[name]
