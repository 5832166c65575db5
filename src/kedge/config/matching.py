"""Settings of what is done with a pair of networks: vectors paired, evidence, decisions, and the other methods."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kedge.config.networks import Stage
from kedge.errors import KedgeError


class ProfileConfig(Stage):
    """How the profiles of accounts are read and compared."""

    ids: str = Field(default="", description="name of the column of ids in both files; empty: the first column")
    fields: tuple[str, ...] = Field(
        default=(), description="the fields that are compared, by their left names; none: all that both sides have"
    )
    compare: tuple[str, ...] = Field(
        default=(),
        description="fields of other names, or of a stated kind: left~right:kind, e.g. handle~screen_name:handle",
    )
    keep: Literal["all", "none"] = Field(
        default="all",
        description="whether the run directory keeps the values of compared fields, for explain, review and export; "
        "none: no value is in it",
    )
    weight: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description="what profiles count beside structure: 1 as estimated, 0 nothing; not set: what validation anchors "
        "prefer",
    )


class PairingConfig(Stage):
    """How vectors of the two networks become candidates, their order, and a prior of evidence."""

    use: Literal["auto", "yes", "no"] = Field(
        default="auto",
        description="vectors as a prior of evidence; auto: where that is affordable, and evidence is not dense",
    )
    vectors: Literal["auto", "sketch", "shared", "mgcn"] = Field(
        default="auto",
        description="what makes the prior: an untrained sketch of each network, MGCN's space of both networks "
        "(shared), or MGCN's trained vectors; auto: mgcn where hyperedges of one's own are given, else "
        "sketch",
    )
    score: Literal["auto", "cosine", "similarity", "network"] = Field(
        default="auto",
        description="what orders the candidates of a method with vectors; auto: what validation anchors prefer",
    )
    decides: Literal["rule", "network"] = Field(
        default="rule",
        description="what answers yes or no for single pairs: a rule fitted on validation anchors, to which the pair "
        "network is one input of many, or the pair network alone, yes from 0.5 on (the paper's)",
    )
    nearest: int = Field(
        default=20, ge=1, le=10_000, description="nearest accounts in the shared space that become candidates"
    )
    certain: float = Field(
        default=0.8, gt=0, lt=1, description="belief from which a match helps to align the vectors of the two networks"
    )
    refinements: int = Field(
        default=8,
        ge=0,
        le=1_000,
        description="how often evidence is repeated with a prior from the vectors, at most, while that makes more "
        "matches certain; 0: no prior, only a mixture uses the vectors; auto with 200 anchors or more: at most one",
    )
    mixture: tuple[Annotated[float, Field(ge=-1e6, le=1e6)], ...] = Field(
        default=(),
        description="weights of log-belief, log-odds, assignment, vector similarity, degree prior and evidence of the "
        "anchors alone, in the order of candidates (use = yes); none: evidence's own order, or with use = auto what "
        "validation anchors ask for where networks have few edges in common",
    )
    accounts: int = Field(
        default=250_000,
        ge=0,
        le=1_000_000_000,
        description="auto: no embedding where both networks together have more accounts, or ten times as many edges; "
        "vectors that are trained: at most 20,000",
    )

    form: Literal["interaction", "concat"] = Field(
        default="interaction",
        description="what the pair network sees: |x - y|, x * y and the cosine, or both vectors (the paper's)",
    )
    hidden: int = Field(default=32, ge=1, le=10_000, description="width of the pair network's hidden layer")
    negatives: int = Field(default=10, ge=1, le=1_000, description="false pairs drawn for each anchor")
    hard: float = Field(
        default=0.5, ge=0, le=1, description="share of false pairs taken from candidates; the others are random"
    )
    learning_rate: float = Field(default=0.01, gt=0, le=100, description="Adam's step size")
    decay: float = Field(default=0.01, ge=0, le=1e6, description="how strongly weights are drawn to 0")
    steps: int = Field(default=300, ge=1, le=1_000_000, description="training steps at most")
    patience: int = Field(
        default=30, ge=1, le=1_000_000, description="steps without a better loss on the validation anchors"
    )

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


class EvidenceConfig(Stage):
    """How evidence travels from matched accounts to their neighbours."""

    form: Literal["auto", "sparse", "dense"] = Field(
        default="auto",
        description="dense assumes that every account has a partner; auto: the better one on validation anchors",
    )
    rounds: int = Field(default=30, ge=1, le=10_000, description="how often beliefs are renewed at most")
    least_rounds: int = Field(
        default=8,
        ge=1,
        le=10_000,
        description="how often beliefs are renewed at least: enough where each account knows anchors",
    )
    candidates: int = Field(
        default=10, ge=1, le=10_000, description="best candidates of an account that send messages in a round"
    )
    keep: int = Field(default=50, ge=1, le=100_000, description="best candidates of each account in the result")
    entries: int = Field(
        default=40_000_000,
        ge=1,
        le=1_000_000_000_000,
        description="candidates of all accounts together at most: with more accounts, keep is smaller, and candidates "
        "at least",
    )
    first_temperature: float = Field(default=4.0, gt=0, le=1e6, description="temperature of the first round")
    temperature: float = Field(default=1.0, gt=0, le=1e6, description="divides log-odds before they become beliefs")
    work: float = Field(
        default=200.0, gt=0, le=1e12, description="messages per round and edge, above which hubs send none"
    )
    dense_cells: int = Field(
        default=2_000_000, ge=0, le=100_000_000_000, description="largest n1 x n2 where the dense form is tried too"
    )
    least_belief: float = Field(default=0.01, gt=0, lt=1, description="smaller beliefs send no messages to neighbours")


class BaselineConfig(Stage):
    """How the methods of the related work run; a constant that a paper fixes is in the method's file."""

    keep: int = Field(default=100, ge=1, le=100_000, description="best candidates of each account in the result")
    dense_cells: int = Field(
        default=100_000_000,
        ge=1,
        le=100_000_000_000,
        description="largest n1 x n2 of a method that scores every pair (4 bytes per cell)",
    )
    rounds: int = Field(
        default=30, ge=1, le=10_000, description="iterations of scores, messages or a matching, at most"
    )
    work: int = Field(
        default=20_000_000, ge=0, le=1_000_000_000_000, description="marks that percolation spreads when stuck, at most"
    )
    hub_pairs: int = Field(
        default=100_000,
        ge=1,
        le=1_000_000_000_000,
        description="a matched pair of hubs with more pairs of neighbours spreads no marks",
    )
    dimensions: int = Field(default=128, ge=1, le=10_000, description="length of a vector")
    walks: int = Field(default=10, ge=1, le=10_000, description="random walks from each account")
    walk_length: int = Field(default=40, ge=2, le=10_000, description="accounts on a random walk")
    walk_return: float = Field(
        default=1.0,
        ge=0.01,
        le=100,
        description="node2vec's p: above 1 a walk seldom returns to where it came from",
    )
    walk_outward: float = Field(
        default=1.0,
        ge=0.01,
        le=100,
        description="node2vec's q: below 1 a walk leads away from where it came from, above 1 it stays near",
    )
    window: int = Field(
        default=5, ge=1, le=10_000, description="how far apart on a walk two accounts still count as neighbours"
    )
    negatives: int = Field(default=5, ge=1, le=1_000, description="noise accounts for each pair of neighbours")
    passes: int = Field(
        default=100, ge=1, le=100_000, description="times that each edge is drawn when vectors are trained on edges"
    )
    steps: int = Field(
        default=300, ge=1, le=1_000_000, description="steps of Adam when maps and autoencoders are trained"
    )
    convolution: Literal["paper", "linear"] = Field(
        default="paper",
        description="gcn and hgnn: as their papers have them, two layers with ReLU and learned weights, or linear, "
        "trained with the settings of mgcn",
    )
    loss: Literal["cross-entropy", "mse"] = Field(
        default="cross-entropy",
        description="autoencoder: what it is trained by, as in the cited work, or the mean square error that the paper "
        "names (mse)",
    )
    learning_rate: float = Field(default=0.01, gt=0, le=100, description="Adam's step size")


def share_range(counterparts: str | None) -> tuple[float, float] | None:
    """`decide.counterparts` as a range of shares; None where it is not set."""
    if counterparts is None:
        return None
    parts = counterparts.split("-")
    try:
        low, high = float(parts[0]), float(parts[-1])
    except ValueError:
        low, high = -1.0, -1.0
    if len(parts) > 2 or not 0 <= low <= high <= 1:
        raise ValueError(f"a share of {counterparts!r}: give a number from 0 to 1, or two as in 0.4-0.6")
    return low, high


def checked_share(counterparts: str) -> str:
    """The share or range as it was given, or one line where it is none."""
    try:
        share_range(counterparts)
    except ValueError as error:
        raise KedgeError(f"--counterparts: {str(error).split(':')[0]}", remedy=str(error).split(": ")[1]) from error
    return counterparts


class DecideConfig(Stage):
    """How scores become probabilities and decisions."""

    assignment: Literal["optimal", "greedy", "many-to-one"] = Field(
        default="optimal",
        description="optimal or greedy one-to-one assignment, or many-to-one (left accounts may share a partner)",
    )
    holdout: float = Field(
        default=0.2,
        ge=0,
        le=0.5,
        description="share of the anchors used as validation anchors, to estimate probabilities",
    )
    folds: int = Field(
        default=0,
        ge=0,
        le=100,
        description="runs without validation anchors; 0: one, or up to 3/holdout where anchors are few",
    )
    precision: float = Field(default=0.9, gt=0, le=1, description="share of the matches that are to be right")
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="pairs from this probability on are matches; not set: the lowest that gives the precision",
    )
    counterparts: str | None = Field(
        default=None,
        description="share of the left accounts without a known partner that have one, if you know it: 0.5 or 0.4-0.6",
    )
    floor: float = Field(default=0.5, ge=0, le=1, description="lower bound of an estimated threshold")
    review: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="assigned pairs from this probability up to the threshold are to be reviewed",
    )
    suspects: bool = Field(
        default=True,
        description="examine the anchors, and use those that the rest of the evidence contradicts for nothing",
    )
    hops: int = Field(
        default=4,
        ge=0,
        le=100,
        description="evidence: how many hops from the anchors the rule for single pairs uses; 0: the score alone",
    )

    @field_validator("counterparts", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value

    @model_validator(mode="after")
    def _with_a_readable_share(self) -> DecideConfig:
        share_range(self.counterparts)
        return self
