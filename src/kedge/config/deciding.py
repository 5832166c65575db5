"""Settings of deciding."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.stage import Stage

__all__ = ["DecideConfig"]


class DecideConfig(Stage):
    """How scores become probabilities and decisions."""

    assignment: Literal["optimal", "greedy", "many-to-one"] = Field(
        default="optimal",
        description="who gets whom: optimal or greedy one-to-one, or many-to-one (left accounts may share)",
    )
    holdout: float = Field(
        default=0.2, ge=0, le=0.5, description="share of the anchors hidden to estimate probabilities"
    )
    folds: int = Field(
        default=0, ge=0, description="runs with hidden anchors; 0: one, or up to 1/holdout where anchors are few"
    )
    precision: float = Field(
        default=0.9, gt=0, lt=1, description="share of right ones that decided matches are to have"
    )
    confidence: float = Field(
        default=0.95,
        ge=0.5,
        lt=1,
        description="how sure held-out anchors must make kedge that decided matches have that precision",
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="call a match from this probability on; not set: the least that gives precision",
    )
    floor: float = Field(
        default=0.5, ge=0, le=1, description="the least that the threshold may be when it is estimated"
    )
    review: float = Field(
        default=0.1, ge=0, le=1, description="assigned pairs from this probability up to the threshold go to review"
    )
    hops: int = Field(
        default=4,
        ge=0,
        description="evidence: how far from the anchors yes or no for a single pair looks; 0: at its score alone",
    )
