"""Settings of what is done with one network: reading, hypergraphs, MGCN, parts and the engines that train them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Stage(BaseModel):
    """Settings of one stage: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _split_names(value: Any) -> Any:
    """`source,target` as two names; a name with a comma is quoted, as in CSV."""
    if isinstance(value, str):
        value = next(csv.reader([value], skipinitialspace=True), [])
    if not isinstance(value, list | tuple):
        return value
    names = tuple(str(name).strip() if isinstance(name, str | int) else name for name in value)
    if names and (len(names) not in (2, 3) or "" in names or len(set(names)) < len(names)):
        raise ValueError("give two or three different columns, e.g. source,target or 1,2,3")
    return names


ColumnNames = Annotated[tuple[str, ...], BeforeValidator(_split_names)]


class ReadConfig(Stage):
    """How files are read."""

    delimiter: str = Field(default="auto", description="between columns: auto, or a character such as , ; | \\t")
    header: Literal["auto", "yes", "no"] = Field(default="auto", description="whether the first row names the columns")
    weights: Literal["auto", "yes", "no"] = Field(
        default="auto", description="whether a third column is the edge's weight"
    )
    columns: ColumnNames = Field(
        default=(),
        description="the columns of both networks with source, target and perhaps weight: names in the header, or "
        "numbers from 1; none: by known names, else the first two",
    )
    left_columns: ColumnNames = Field(default=(), description="the same for the left network alone")
    right_columns: ColumnNames = Field(default=(), description="the same for the right network alone")
    anchor_columns: ColumnNames = Field(
        default=(), max_length=2, description="the columns of anchors and test pairs with the left and the right id"
    )
    contradictory: Literal["error", "drop"] = Field(
        default="error", description="what to do with anchors that give one account several partners"
    )
    bad_rows: Literal["error", "skip"] = Field(
        default="error",
        description="what to do with rows that cannot be read: refuse the file, or skip them and state their lines",
    )
    max_memory_mb: float = Field(
        default=0, ge=0, le=1e9, description="memory that one input may take, in MB; 0: half of the available memory"
    )


# The hypergraph builders: `kedge.hypergraph.NAME.build` for each, and one row of docs/mgcn.md.
HYPERGRAPHS: Final[Mapping[str, str]] = {
    "neighbourhood": "one hyperedge around each account",
    "anchor": "one hyperedge around each anchored account",
    "centrality": "one hyperedge per centrality and per large community",
    "latent": "one hyperedge per code of an autoencoder",
    "profiles": "one hyperedge per value of profiles that accounts have in common",
    "communities": "one hyperedge per community, at several resolutions",
    "nearest": "one hyperedge around each account, of those with the nearest vectors",
}
# What a number after the name of a builder replaces, e.g. neighbourhood:128.
SIZES: Final[Mapping[str, str]] = {
    "neighbourhood": "nearest",
    "anchor": "nearest",
    "centrality": "communities",
    "latent": "codes",
    "profiles": "largest",
    "communities": "resolutions",
    "nearest": "similar",
}
AUTO: Final = "auto"
_NAMES: Final = rf"({'|'.join(HYPERGRAPHS)})(:[1-9]\d{{0,4}})?"


class HypergraphConfig(Stage):
    """How hyperedges are drawn from a network."""

    builders: str = Field(
        default="neighbourhood",
        pattern=rf"^({AUTO}|{_NAMES}(\+{_NAMES})*)$",
        description=f"{', '.join(HYPERGRAPHS)}, or several joined by +, e.g. neighbourhood+centrality; a number after "
        "a colon is a builder's size, e.g. neighbourhood:128; auto: what held-out edges or validation anchors prefer",
    )
    trials: int = Field(
        default=12, ge=1, le=1_000, description="auto: fits, or placements of both networks, at most, to choose by"
    )
    trial_steps: int = Field(
        default=100,
        ge=1,
        le=1_000_000,
        description="auto: training steps of each such fit; of a large network, one part",
    )
    nearest: int = Field(
        default=32,
        ge=0,
        le=100_000,
        description="accounts per hyperedge: those with the highest random-walk probability; 0: all within hops",
    )
    hops: int = Field(
        default=10, ge=1, le=1_000, description="largest distance from the centre of a hyperedge (the paper's phi)"
    )
    restart: float = Field(
        default=0.15, gt=0, lt=1, description="probability that the random walk returns to its centre at each step"
    )
    sharpness: float = Field(
        default=0.5, ge=0, le=1, description="a membership is the walk probability to this power; 0: all members equal"
    )
    front: int = Field(
        default=128, ge=1, le=100_000_000, description="accounts from which a random walk continues at each step"
    )
    max_entries: int = Field(
        default=200_000_000,
        ge=1,
        le=100_000_000_000,
        description="refuse a hypergraph with more memberships than this (8 bytes each)",
    )
    communities: int = Field(
        default=12, ge=0, le=100_000, description="centrality: hyperedges for the largest communities"
    )
    samples: int = Field(
        default=512,
        ge=1,
        le=100_000_000,
        description="centrality: accounts sampled for betweenness and closeness in large networks",
    )
    codes: int = Field(
        default=200, ge=1, le=100_000, description="latent: number of hyperedges, the codes of the autoencoder"
    )
    active: int = Field(
        default=20, ge=0, le=100_000, description="latent: strongest codes per account; 0: all, a dense matrix"
    )
    latent_steps: int = Field(default=100, ge=0, le=1_000_000, description="training steps of the autoencoder")
    largest: int = Field(
        default=50,
        ge=2,
        le=100_000,
        description="profiles: accounts per hyperedge at most; a value that more accounts have makes none",
    )
    values: int = Field(
        default=20, ge=1, le=10_000, description="profiles: hyperedges per account at most, those of its rarest values"
    )
    resolutions: tuple[Annotated[float, Field(gt=0, le=1e6)], ...] = Field(
        default=(1.0, 4.0, 16.0, 64.0),
        min_length=1,
        description="communities: resolutions of Louvain's method; the higher, the smaller the communities",
    )
    similar: int = Field(
        default=16, ge=1, le=100_000, description="nearest: accounts per hyperedge, by the cosine of their vectors"
    )
    redraw: int = Field(
        default=50,
        ge=0,
        le=1_000_000,
        description="nearest: training steps after which its hyperedges are drawn again, from the current vectors; "
        "0: never, they are those of a sketch",
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The builders without their sizes."""
        return tuple(part.partition(":")[0] for part in self.builders.split("+"))

    def each(self) -> tuple[tuple[str, HypergraphConfig], ...]:
        """Each builder by its name, with the settings that it has: a size in `builders` replaces one."""
        found = []
        for part in self.builders.split("+"):
            name, _, size = part.partition(":")
            own: dict[str, Any] = {"builders": part}
            if size:
                own[SIZES[name]] = (float(size),) if name == "communities" else int(size)
            found.append((name, self.model_copy(update=own)))
        return tuple(found)


class MgcnConfig(Stage):
    """How one network, or one part of it, is embedded (Eq. 1-10)."""

    space: Literal["shared", "projected"] = Field(
        default="shared",
        description="method mgcn: both networks at once in coordinates of known pairs (shared; untrained), "
        "or each trained alone and projected by the anchors (projected, the paper's)",
    )
    dimensions: int = Field(default=128, ge=1, le=10_000, description="length of a vector (the paper's d)")
    layers: int = Field(default=2, ge=1, le=100, description="convolutions per level (the paper's K)")
    levels: Literal["both", "simple", "hypergraph", "none"] = Field(
        default="both",
        description="levels of convolution: within hyperedges (simple), over the hypergraph, both, or none (only X^0)",
    )
    fusion: Literal["concat", "basis", "sum", "linear"] = Field(
        default="linear",
        description="how hyperedges are fused (Eq. 4): one matrix per hyperedge (concat), mixtures of few matrices "
        "(basis), one matrix after the sum (sum), or summed before the activation (linear)",
    )
    bases: int = Field(default=4, ge=1, le=1_000, description="fusion = basis: number of shared matrices")
    share: bool = Field(
        default=True, description="scale the memberships of each account to the same total within hyperedges"
    )
    reweigh: bool = Field(
        default=True,
        description="fusion = linear: weigh edges by shared hyperedges first, then normalise",
    )
    theta: Literal["edge", "paper"] = Field(
        default="edge",
        description="normalisation of the hypergraph level: by hyperedge size too (edge), or Eq. 9 as printed (paper)",
    )
    activation: Literal["none", "tanh", "relu"] = Field(default="none", description="function after each convolution")
    skip: bool = Field(default=False, description="add the input of each convolution to its output")
    gate: Literal["learned", "fixed"] = Field(
        default="learned",
        description="share of a level's output that is passed on, the rest being its input: learned from the degree, "
        "or fixed (1 for the simple level, blend for the hypergraph level)",
    )
    tune_gates: bool = Field(
        default=True,
        description="stop = edges, gate = learned: the share that each level passes on is adjusted by held-out edges",
    )
    blend: float = Field(
        default=0.33,
        ge=0,
        le=1,
        description="gate = fixed: share of the hypergraph level's output that is passed on; 1 in the paper",
    )
    transform: bool = Field(default=False, description="learn the matrices W and F; false: both levels only propagate")
    identity: bool = Field(default=True, description="start learned matrices near the identity; false: at random")
    unit: bool = Field(
        default=True, description="unit vectors times one learned length, and a learned bias in the logit"
    )
    length: float = Field(default=3.0, gt=0, le=1e6, description="unit = true: squared length at the start")
    dropout: float = Field(
        default=0.5, ge=0, lt=1, description="share of the entries of X^0 that each training step drops"
    )
    drop_edges: float = Field(
        default=0.5,
        ge=0,
        lt=1,
        description="share of edges that each training step drops and learns to predict: from hyperedges around their "
        "ends, and with fusion = linear from the network; 0: none",
    )
    drop_hyperedges: float = Field(
        default=0.0, ge=0, lt=1, description="share of hyperedges that each training step drops"
    )
    drop_output: float = Field(
        default=0.0, ge=0, lt=1, description="share of the output's entries that each training step drops"
    )
    start: Literal["free", "autoencoder", "given"] = Field(
        default="free",
        description="the first vectors X^0: learned (free), learned from an autoencoder's codes, or features you give",
    )
    weighing: Literal["mean", "paper"] = Field(
        default="mean",
        description="edges against noise in the objective: equal (mean), or 1 : 2 negatives as printed in Eq. 10",
    )
    negatives: int = Field(default=5, ge=1, le=1_000, description="noise accounts per end of an edge (the paper's M)")
    pool: int = Field(
        default=512, ge=1, le=1_000_000, description="noise accounts drawn per training step, shared by all edges"
    )
    learning_rate: float = Field(default=0.05, gt=0, le=100, description="step size of Adam")
    clip: float = Field(
        default=10.0, gt=0, le=1e6, description="largest norm of the gradient; a longer one is scaled down"
    )
    steps: int = Field(default=300, ge=1, le=1_000_000, description="training steps at most")
    held_out: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="share of edges held out of training to decide when to stop (see stop); 0: take all steps",
    )
    stop: Literal["auto", "edges", "never"] = Field(
        default="auto",
        description="when training stops early: by the AUC of held-out edges (edges), or never, with no edge held out; "
        "auto: never for matching, edges for vectors alone",
    )
    check_every: int = Field(
        default=10, ge=1, le=1_000_000, description="stop = edges: training steps between two checks"
    )
    patience: int = Field(
        default=20, ge=1, le=1_000_000, description="stop = edges: stop after this many checks without a better AUC"
    )
    release: int = Field(
        default=60,
        ge=0,
        le=1_000_000,
        description="stop = edges: further steps at most without the two levels; used only where the AUC of held-out "
        "edges rises; 0: none",
    )
    refit: bool = Field(
        default=False, description="stop = edges: train again on all edges for the number of steps found"
    )


class SharedConfig(Stage):
    """How MGCN places two networks at once in coordinates that known pairs give them."""

    levels: Literal["both", "simple", "hypergraph"] = Field(
        default="both", description="levels of convolution: over edges (simple), over the hypergraph, or both"
    )
    own: float = Field(
        default=0.3, ge=0, lt=1, description="simple level: share of its own input that an account keeps"
    )
    members: int = Field(
        default=1_024,
        ge=1,
        le=100_000,
        description="hypergraph level: accounts per hyperedge; fewer where both networks' hyperedges would hold more "
        "than 50 million each",
    )
    restart: float = Field(
        default=0.4, gt=0, lt=1, description="probability that the random walk of a hyperedge returns to its centre"
    )
    hops: int = Field(default=5, ge=1, le=1_000, description="largest distance from the centre of a hyperedge")
    contrast: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="epsilon of log(epsilon + x / mean): the smaller, the more an absent coordinate counts",
    )
    entries: int = Field(default=128, ge=1, le=100_000, description="largest coordinates kept per account and level")
    degree: float = Field(
        default=0.1, ge=0, le=100, description="weight of the logarithm of the degree as a further coordinate"
    )
    profiles: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="weight of the values of profiles as further coordinates, where hypergraph.builders has profiles",
    )
    neighbours: int = Field(
        default=10,
        ge=0,
        le=1_000,
        description="nearest accounts whose mean cosine is taken off the score (CSLS); 0: plain cosines",
    )
    rounds: int = Field(
        default=5,
        ge=1,
        le=1_000,
        description="how often accounts are placed; after each round, pairs that are each other's best are known",
    )


# Where parts are trained: `kedge.engine.NAME.make` for each, and one row of docs/scaling.md.
ENGINES: Final[Mapping[str, str]] = {
    "serial": "one part after the other, in this process",
    "processes": "several processes on this machine",
    "dask": "a Dask cluster",
}


class PartitionConfig(Stage):
    """How a large network is cut into parts (Algorithm 1)."""

    n_max: int = Field(default=15_000, ge=2, le=100_000_000, description="N_max: accounts per part at most")
    n_min: int = Field(
        default=1_000, ge=1, le=100_000_000, description="N_min: parts with fewer accounts are merged into others"
    )
    rounds: int = Field(
        default=10, ge=1, le=1_000, description="T: how often parts that are too large are split again, at most"
    )
    merge: Literal["edges", "paper"] = Field(
        default="edges",
        description="where a small part goes: to the part with most edges to it (edges), or to a random one (paper)",
    )
    shared: int = Field(
        default=1_000,
        ge=0,
        le=100_000_000,
        description="N: accounts that are in every part; border: halo accounts per part at most",
    )
    shared_by: Literal["border", "bridges", "paper"] = Field(
        default="border",
        description="what parts have in common: a sketch of the whole network and halo accounts, neighbours in other "
        "parts (border), or shared accounts: those with edges into most parts (bridges), the highest degrees (paper)",
    )
    shared_edges: int = Field(
        default=16,
        ge=1,
        le=100_000,
        description="bridges: edges to other shared accounts, per shared account outside its own part",
    )
    anchors_first: bool = Field(default=False, description="choose anchored accounts as shared or halo accounts first")
    reconcile: Literal["procrustes", "paper"] = Field(
        default="procrustes",
        description="how the parts' vectors are brought into one space: by rotation, or by Eq. 12 as printed",
    )
    sketch_steps: int = Field(
        default=8, ge=0, le=1_000, description="border: smoothing steps of the sketch over the network"
    )
    sketch_length: float = Field(
        default=8.0,
        gt=0,
        le=1e6,
        description="border: length of a part's first vectors; longer ones move less in training",
    )
    learned_weight: float = Field(
        default=0.3,
        ge=0,
        le=1e6,
        description="border: weight of the d learned columns, concatenated with the d columns of the sketch; 0: "
        "learned columns alone",
    )
    boundary_steps: int = Field(
        default=8, ge=0, le=1_000, description="final steps that move accounts towards their neighbours in other parts"
    )


class EngineConfig(Stage):
    """Where the parts of a large network are trained."""

    name: str = Field(
        default="processes",
        pattern=f"^({'|'.join(ENGINES)})$",
        description="; ".join(f"{name}: {about}" for name, about in ENGINES.items()),
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=4_096,
        description="processes: number of workers; 0: one per core, or as many as fit into memory",
    )
    max_memory_mb: float = Field(
        default=0, ge=0, le=1e9, description="memory limit in MB; 0: four fifths of the available memory"
    )
    address: str = Field(default="", description="dask: address of the scheduler, e.g. tcp://host:8786")
    tls_ca: str = Field(default="", description="dask: certificate of the authority that signed the scheduler's; PEM")
    tls_cert: str = Field(default="", description="dask: certificate that this process shows the scheduler; PEM")
    tls_key: str = Field(default="", description="dask: key of that certificate; PEM")
    silence: float = Field(
        default=60,
        gt=0,
        le=1e8,
        description="dask: seconds without a sign of life from a worker until its jobs are given to others",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="cpu",
        description="what MGCN is trained on; auto: cuda where torch finds it; its vectors are equal up to rounding",
    )
    checkpoint: float = Field(
        default=60,
        ge=0,
        le=1e8,
        description="serial and processes: seconds between two savings of a part in training, from which a resumed "
        "run goes on; 0: none",
    )
    timeout: float = Field(default=0, ge=0, le=1e8, description="seconds until a job counts as hung; 0: never")
    retries: int = Field(default=2, ge=0, le=100, description="how often a job is run again after its worker died")
