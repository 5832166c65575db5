"""Settings of the methods that kedge is compared with."""

from __future__ import annotations

from pydantic import Field

from kedge.config.base import Stage


class BaselineConfig(Stage):
    """How the methods of the related work run; a constant that a paper fixes is in the method's file."""

    keep: int = Field(default=100, ge=1, description="best candidates of each account in the result")
    dense_cells: int = Field(
        default=100_000_000, ge=1, description="largest n1 x n2 of a method that scores every pair (4 bytes per cell)"
    )
    rounds: int = Field(default=30, ge=1, description="iterations of scores, messages or a matching, at most")
    work: int = Field(default=20_000_000, ge=0, description="marks that percolation spreads when stuck, at most")
    hub_pairs: int = Field(
        default=100_000, ge=1, description="a matched pair of hubs with more pairs of neighbours spreads no marks"
    )
    dimensions: int = Field(default=128, ge=1, description="length of a vector")
    walks: int = Field(default=10, ge=1, description="random walks from each account")
    walk_length: int = Field(default=40, ge=2, description="accounts on a random walk")
    window: int = Field(default=5, ge=1, description="how far apart on a walk two accounts still count as neighbours")
    negatives: int = Field(default=5, ge=1, description="noise accounts for each pair of neighbours")
    passes: int = Field(
        default=100, ge=1, description="times that each edge is drawn when vectors are trained on edges"
    )
    steps: int = Field(default=300, ge=1, description="steps of Adam when maps and autoencoders are trained")
    learning_rate: float = Field(default=0.01, gt=0, description="Adam's step size")
