"""Vectors of both networks by the objective of Eq. 10, for the methods that differ from MGCN only in what convolves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.methods.all_steps import train_for_matching
from kedge.mgcn import embed
from kedge.types import FloatArray, Hypergraph, Network, Problem

__all__ = ["vectors_by_edges"]

DrawHypergraph = Callable[[Network, int], Hypergraph]


def vectors_by_edges(
    problem: Problem, config: Config, seeds: list[int], method: str, changes: Mapping[str, Any], draw: DrawHypergraph
) -> tuple[FloatArray, FloatArray]:
    """Left and right vectors [n, d] trained as `config.mgcn` says, but for `changes`, over the hypergraph drawn.

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    settings = {**train_for_matching(config).mgcn.model_dump(), "dimensions": config.baselines.dimensions, **changes}
    changed = config.model_copy(update={"mgcn": type(config.mgcn).model_validate(settings)})
    found = []
    for side, (network, name) in enumerate(((problem.left, "left"), (problem.right, "right"))):
        fit = embed(network, changed, seeds[side], hypergraph=draw(network, side))
        if fit.verdict == "collapsed":
            raise KedgeError(
                f"{method}'s embedding of the {name} network collapsed (loss {fit.losses[-1]:.3f}, trivial "
                f"{fit.trivial:.3f})",
                remedy="use the default preset's mgcn.weighing and mgcn.unit",
            )
        fit.vectors[network.degrees == 0] = 0  # no edge has said anything about it
        found.append(fit.vectors)
    return found[0], found[1]
