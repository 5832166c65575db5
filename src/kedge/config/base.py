"""What the settings of every stage have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Stage(BaseModel):
    """Settings of one stage: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
