"""Settings of evidence propagation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.base import Stage


class EvidenceConfig(Stage):
    """How evidence travels from matched accounts to their neighbours."""

    form: Literal["auto", "sparse", "dense"] = Field(
        default="auto",
        description="dense assumes that every account has a partner; auto: the better one on validation anchors",
    )
    rounds: int = Field(default=30, ge=1, description="how often beliefs are renewed at most")
    least_rounds: int = Field(
        default=8, ge=1, description="how often beliefs are renewed at least: enough where each account knows anchors"
    )
    candidates: int = Field(default=10, ge=1, description="best candidates of an account that send messages in a round")
    keep: int = Field(default=50, ge=1, description="best candidates of each account in the result")
    first_temperature: float = Field(default=4.0, gt=0, description="temperature of the first round")
    temperature: float = Field(default=1.0, gt=0, description="divides log-odds before they become beliefs")
    work: float = Field(default=200.0, gt=0, description="messages per round and edge, above which hubs send none")
    dense_cells: int = Field(default=2_000_000, ge=0, description="largest n1 x n2 where the dense form is tried too")
    least_belief: float = Field(default=0.01, gt=0, lt=1, description="smaller beliefs send no messages to neighbours")
