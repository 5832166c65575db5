"""How long vectors train that are made for a match; apart from the training itself, which loads torch."""

from __future__ import annotations

from kedge.config import Config

__all__ = ["train_for_matching"]


def train_for_matching(config: Config) -> Config:
    """The configuration with `mgcn.stop` settled: all edges and all steps, unless the settings ask for edges left out.

    Edges left out are foreseen well by communities alone, hardly trained; a partner is found by what sets an account
    apart within its community, which is learnt later (docs/decisions/0019).
    """
    if config.mgcn.stop != "auto":
        return config
    return config.model_copy(update={"mgcn": config.mgcn.model_copy(update={"stop": "never"})})
