"""Settings of hypergraphs and of MGCN."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.stage import Stage

__all__ = ["HypergraphConfig", "MgcnConfig"]


class HypergraphConfig(Stage):
    """How hyperedges are drawn from a network."""

    builders: str = Field(
        default="neighbourhood",
        pattern=r"^(neighbourhood|anchor|centrality|latent)(\+(neighbourhood|anchor|centrality|latent))*$",
        description="neighbourhood, anchor, centrality, latent, or several put side by side: neighbourhood+centrality",
    )
    nearest: int = Field(
        default=32,
        ge=0,
        description="accounts in the hyperedge around a centre, by random-walk probability; 0 takes all within hops",
    )
    hops: int = Field(default=10, ge=1, description="how far from its centre a hyperedge reaches (the paper's phi)")
    restart: float = Field(
        default=0.15, gt=0, lt=1, description="how likely the random walk returns to its centre at each step"
    )
    sharpness: float = Field(
        default=0.5, ge=0, le=1, description="memberships are walk probabilities to this power; 0 counts members alike"
    )
    front: int = Field(default=128, ge=1, description="accounts that a random walk carries on from at each step")
    max_entries: int = Field(
        default=200_000_000, ge=1, description="refuse a hypergraph with more memberships than this (8 bytes each)"
    )
    communities: int = Field(default=12, ge=0, description="one-hot communities of the centrality hypergraph")
    samples: int = Field(
        default=512, ge=1, description="accounts that betweenness and closeness are sampled from in larger networks"
    )
    codes: int = Field(default=200, ge=1, description="hyperedges of the latent hypergraph: the autoencoder's codes")
    active: int = Field(
        default=20, ge=0, description="strongest codes kept for each account; 0 keeps all, a full matrix"
    )
    latent_steps: int = Field(default=100, ge=0, description="training steps of the autoencoder")


class MgcnConfig(Stage):
    """How one network, or one part of it, is embedded (Eq. 1-10)."""

    dimensions: int = Field(default=128, ge=1, description="length of a vector (the paper's d)")
    layers: int = Field(default=2, ge=1, description="convolutions at each level (the paper's K)")
    levels: Literal["both", "simple", "hypergraph", "none"] = Field(
        default="both",
        description="what convolves: within hyperedges (simple), over the hypergraph, both, or none (X^0 itself)",
    )
    fusion: Literal["concat", "basis", "sum", "linear"] = Field(
        default="linear",
        description="how hyperedges are fused (Eq. 4): a block each, blocks of few bases, one block, or summed first",
    )
    bases: int = Field(default=4, ge=1, description="shared blocks of fusion = basis")
    share: bool = Field(
        default=True,
        description="scale each account's memberships to one total within hyperedges, however many it is in",
    )
    reweigh: bool = Field(
        default=True,
        description="fusion = linear: hyperedges weigh the network's edges first, and the result is normalised",
    )
    theta: Literal["edge", "paper"] = Field(
        default="edge",
        description="normalisation of the hypergraph level: by hyperedge size too, or as printed (Eq. 9)",
    )
    activation: Literal["none", "tanh", "relu"] = Field(default="none", description="what follows each convolution")
    skip: bool = Field(default=False, description="add each convolution's input to its output")
    gate: Literal["learned", "fixed"] = Field(
        default="learned",
        description="how much of a level's output goes on, the rest being its input: learned, by the account's degree; "
        "fixed, all of the simple level's and blend of the hypergraph's",
    )
    blend: float = Field(
        default=0.33,
        ge=0,
        le=1,
        description="gate = fixed: how much of the hypergraph level's output goes on; 1 as printed",
    )
    transform: bool = Field(
        default=False, description="learn the matrices W and F; without them both levels only propagate"
    )
    identity: bool = Field(
        default=True, description="let learned matrices start near the identity instead of at random"
    )
    unit: bool = Field(
        default=True, description="unit vectors times one learned length, and a learned bias in the logit"
    )
    length: float = Field(default=3.0, gt=0, description="the squared length of unit vectors to start from")
    dropout: float = Field(
        default=0.5, ge=0, lt=1, description="share of the first vectors' entries that each training step leaves out"
    )
    drop_edges: float = Field(
        default=0.5,
        ge=0,
        lt=1,
        description="share of edges that each training step hides and learns to foresee: from hyperedges around their "
        "ends, and with fusion = linear from the network; 0 hides none",
    )
    drop_hyperedges: float = Field(
        default=0.0, ge=0, lt=1, description="share of hyperedges that each training step leaves out"
    )
    drop_output: float = Field(
        default=0.0, ge=0, lt=1, description="share of the last vectors' entries that each training step leaves out"
    )
    start: Literal["free", "autoencoder", "given"] = Field(
        default="free",
        description="the first vectors X^0: learned, learned from an autoencoder's codes, or given features",
    )
    weighing: Literal["mean", "paper"] = Field(
        default="mean",
        description="edges against noise in the objective: equal, or 1 : 2 negatives as printed (Eq. 10)",
    )
    negatives: int = Field(default=5, ge=1, description="noise accounts for each end of an edge (the paper's M)")
    pool: int = Field(default=512, ge=1, description="noise accounts drawn at each step for all edges together")
    learning_rate: float = Field(default=0.05, gt=0, description="Adam's step size")
    clip: float = Field(default=10.0, gt=0, description="longest gradient taken as it is; longer ones are shortened")
    steps: int = Field(default=300, ge=1, description="training steps at most")
    held_out: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="share of edges left out of training to tell when to stop (see stop); 0 takes all steps",
    )
    stop: Literal["auto", "edges", "never"] = Field(
        default="auto",
        description="what ends training early: edges, those left out, or never, so that none are; auto: never for "
        "matching, where they mislead, and edges for vectors by themselves",
    )
    check_every: int = Field(default=10, ge=1, description="stop = edges: steps between two looks at them")
    patience: int = Field(default=20, ge=1, description="stop = edges: looks without a better one that end it")
    release: int = Field(
        default=60,
        ge=0,
        description="stop = edges: steps at most in which the vectors learn on without the levels; kept only where the "
        "edges left out gain by it; 0 takes none",
    )
    refit: bool = Field(
        default=False, description="stop = edges: train again with all edges for the number of steps found"
    )
