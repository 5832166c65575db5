"""Settings of the pair network, of the candidates that vectors propose, and of vector similarity as a prior."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from kedge.config.base import Stage


class PairingConfig(Stage):
    """How vectors of the two networks become candidates, their order, and a prior of evidence."""

    use: Literal["auto", "yes", "no"] = Field(
        default="auto",
        description="vectors as a prior of evidence; auto: where that is affordable, and evidence is not dense",
    )
    vectors: Literal["auto", "sketch", "mgcn"] = Field(
        default="auto",
        description="whose vectors make the prior: an untrained sketch of each network, or MGCN's; "
        "auto: MGCN's where hyperedges of one's own are given, else the sketch",
    )
    score: Literal["auto", "cosine", "similarity", "network"] = Field(
        default="auto",
        description="what orders the candidates of a method with vectors; auto: what validation anchors prefer",
    )
    nearest: int = Field(default=20, ge=1, description="nearest accounts in the shared space that become candidates")
    certain: float = Field(
        default=0.8, gt=0, lt=1, description="belief from which a match helps to align the vectors of the two networks"
    )
    refinements: int = Field(
        default=8,
        ge=0,
        description="how often evidence is repeated with a prior from the vectors, at most, while that makes more "
        "matches certain; 0: no prior, only a mixture uses the vectors; auto with 200 anchors or more: at most one",
    )
    mixture: tuple[float, ...] = Field(
        default=(),
        description="weights of log-belief, log-odds, assignment, vector similarity, degree prior and evidence of the "
        "anchors alone, in the order of candidates (use = yes); none: evidence's own order, or with use = auto what "
        "validation anchors ask for where networks have few edges in common",
    )
    accounts: int = Field(
        default=250_000,
        ge=0,
        description="auto: no embedding where both networks together have more accounts, or ten times as many edges; "
        "vectors that are trained: at most 20,000",
    )

    form: Literal["interaction", "concat"] = Field(
        default="interaction",
        description="what the pair network sees: |x - y|, x * y and the cosine, or both vectors (the paper's)",
    )
    hidden: int = Field(default=32, ge=1, description="width of the pair network's hidden layer")
    negatives: int = Field(default=10, ge=1, description="false pairs drawn for each anchor")
    hard: float = Field(
        default=0.5, ge=0, le=1, description="share of false pairs taken from candidates; the others are random"
    )
    learning_rate: float = Field(default=0.01, gt=0, description="Adam's step size")
    decay: float = Field(default=0.01, ge=0, description="how strongly weights are drawn to 0")
    steps: int = Field(default=300, ge=1, description="training steps at most")
    patience: int = Field(default=30, ge=1, description="steps without a better loss on the validation anchors")

    @model_validator(mode="after")
    def _without_contradictions(self) -> PairingConfig:
        if len(self.mixture) not in (0, 6):
            raise ValueError(f"a mixture of {len(self.mixture)} weights: give six, or none")
        if self.refinements == 0 and not self.mixture:
            raise ValueError(
                "no refinement and no mixture: nothing would use the vectors; set pairing.use = no instead"
            )
        if self.mixture and self.use != "yes":
            raise ValueError("a mixture weighs vector similarity too: it needs pairing.use = yes")
        return self
