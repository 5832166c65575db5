"""Both networks of a problem embedded by MGCN, with vectors made for matching."""

from __future__ import annotations

from kedge.config import Config
from kedge.context import Cache, RunContext, spawn_seeds
from kedge.embedding.network import NetworkVectors, embed_networks, recall_networks
from kedge.embedding.plan import Source
from kedge.types import Problem


def train_for_matching(config: Config) -> Config:
    """The configuration with `mgcn.stop = auto` resolved to all edges and all steps.

    Held-out edges are predicted well from communities alone, after few steps; a partner is found by what distinguishes
    an account within its community, which is learnt later (docs/decisions/0019).
    """
    if config.mgcn.stop != "auto":
        return config
    return config.model_copy(update={"mgcn": config.mgcn.model_copy(update={"stop": "never"})})


def embed_both(problem: Problem, config: Config, seed: int, context: RunContext | None) -> tuple[NetworkVectors, ...]:
    """Vectors of the left and of the right network; the same seed and settings give the same from the cache."""
    return embed_networks(sources(problem, seed), train_for_matching(config), context)


def recall_both(problem: Problem, config: Config, seed: int, cache: Cache) -> tuple[NetworkVectors, ...] | None:
    """The same from the cache alone; None where it does not have both."""
    return recall_networks(sources(problem, seed), train_for_matching(config), cache)


def sources(problem: Problem, seed: int) -> list[Source]:
    """The left and the right network to embed, each with its own seed."""
    named = ((problem.left, "the left network"), (problem.right, "the right network"))
    return [
        Source(network, problem.anchors[:, side], spawn_seeds(seed)[side], name, problem.hypergraphs[side])
        for side, (network, name) in enumerate(named)
    ]
