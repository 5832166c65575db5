"""Settings of hypergraphs and of MGCN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from kedge.config.base import Stage

# The hypergraph builders: `kedge.hypergraph.NAME.build` for each, and one row of docs/mgcn.md.
HYPERGRAPHS: Final[Mapping[str, str]] = {
    "neighbourhood": "one hyperedge around each account",
    "anchor": "one hyperedge around each anchored account",
    "centrality": "one hyperedge per centrality and per large community",
    "latent": "one hyperedge per code of an autoencoder",
}
_NAMES: Final = "|".join(HYPERGRAPHS)


class HypergraphConfig(Stage):
    """How hyperedges are drawn from a network."""

    builders: str = Field(
        default="neighbourhood",
        pattern=rf"^({_NAMES})(\+({_NAMES}))*$",
        description=f"{', '.join(HYPERGRAPHS)}, or several joined by +, e.g. neighbourhood+centrality",
    )
    nearest: int = Field(
        default=32,
        ge=0,
        description="accounts per hyperedge: those with the highest random-walk probability; 0: all within hops",
    )
    hops: int = Field(default=10, ge=1, description="largest distance from the centre of a hyperedge (the paper's phi)")
    restart: float = Field(
        default=0.15, gt=0, lt=1, description="probability that the random walk returns to its centre at each step"
    )
    sharpness: float = Field(
        default=0.5, ge=0, le=1, description="a membership is the walk probability to this power; 0: all members equal"
    )
    front: int = Field(default=128, ge=1, description="accounts from which a random walk continues at each step")
    max_entries: int = Field(
        default=200_000_000, ge=1, description="refuse a hypergraph with more memberships than this (8 bytes each)"
    )
    communities: int = Field(default=12, ge=0, description="centrality: hyperedges for the largest communities")
    samples: int = Field(
        default=512, ge=1, description="centrality: accounts sampled for betweenness and closeness in large networks"
    )
    codes: int = Field(default=200, ge=1, description="latent: number of hyperedges, the codes of the autoencoder")
    active: int = Field(default=20, ge=0, description="latent: strongest codes per account; 0: all, a dense matrix")
    latent_steps: int = Field(default=100, ge=0, description="training steps of the autoencoder")


class MgcnConfig(Stage):
    """How one network, or one part of it, is embedded (Eq. 1-10)."""

    dimensions: int = Field(default=128, ge=1, description="length of a vector (the paper's d)")
    layers: int = Field(default=2, ge=1, description="convolutions per level (the paper's K)")
    levels: Literal["both", "simple", "hypergraph", "none"] = Field(
        default="both",
        description="levels of convolution: within hyperedges (simple), over the hypergraph, both, or none (only X^0)",
    )
    fusion: Literal["concat", "basis", "sum", "linear"] = Field(
        default="linear",
        description="how hyperedges are fused (Eq. 4): one matrix per hyperedge (concat), mixtures of few matrices "
        "(basis), one matrix after the sum (sum), or summed before the activation (linear)",
    )
    bases: int = Field(default=4, ge=1, description="fusion = basis: number of shared matrices")
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
    length: float = Field(default=3.0, gt=0, description="unit = true: squared length at the start")
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
    negatives: int = Field(default=5, ge=1, description="noise accounts per end of an edge (the paper's M)")
    pool: int = Field(default=512, ge=1, description="noise accounts drawn per training step, shared by all edges")
    learning_rate: float = Field(default=0.05, gt=0, description="step size of Adam")
    clip: float = Field(default=10.0, gt=0, description="largest norm of the gradient; a longer one is scaled down")
    steps: int = Field(default=300, ge=1, description="training steps at most")
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
    check_every: int = Field(default=10, ge=1, description="stop = edges: training steps between two checks")
    patience: int = Field(
        default=20, ge=1, description="stop = edges: stop after this many checks without a better AUC"
    )
    release: int = Field(
        default=60,
        ge=0,
        description="stop = edges: further steps at most without the two levels; used only where the AUC of held-out "
        "edges rises; 0: none",
    )
    refit: bool = Field(
        default=False, description="stop = edges: train again on all edges for the number of steps found"
    )
