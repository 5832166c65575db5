"""Settings of deciding."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.base import Stage


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
        default=0, ge=0, description="runs without validation anchors; 0: one, or up to 1/holdout where anchors are few"
    )
    precision: float = Field(default=0.9, gt=0, lt=1, description="share of the matches that are to be right")
    confidence: float = Field(
        default=0.95,
        ge=0.5,
        lt=1,
        description="confidence, from validation anchors, that matches have that precision",
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="pairs from this probability on are matches; not set: the lowest that gives the precision",
    )
    floor: float = Field(default=0.5, ge=0, le=1, description="lower bound of an estimated threshold")
    review: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="assigned pairs from this probability up to the threshold are to be reviewed",
    )
    hops: int = Field(
        default=4,
        ge=0,
        description="evidence: how many hops from the anchors the rule for single pairs uses; 0: the score alone",
    )
