"""Settings of reading."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.base import Stage


class ReadConfig(Stage):
    """How files are read."""

    delimiter: str = Field(default="auto", description="between columns: auto, or a character such as , ; | \\t")
    header: Literal["auto", "yes", "no"] = Field(default="auto", description="whether the first row names the columns")
    weights: Literal["auto", "yes", "no"] = Field(
        default="auto", description="whether a third column is the edge's weight"
    )
    contradictory: Literal["error", "drop"] = Field(
        default="error", description="what to do with anchors that give one account several partners"
    )
