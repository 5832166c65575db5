"""Both networks as their sketches, on the shelf: vectors that cost a thirtieth of trained ones."""

from __future__ import annotations

from kedge.config import Config
from kedge.embedding.part import digest
from kedge.embedding.sketch import sketch_network
from kedge.types import FloatArray, Network, Problem
from kedge.workshop import Piece, Shelf, get_or_make

__all__ = ["recall_sketches", "sketch_both"]


def sketch_both(problem: Problem, config: Config, shelf: Shelf) -> tuple[FloatArray, ...]:
    """A sketch [n, d] of the left and of the right network; the same settings and seed give the same from the shelf."""
    return tuple(_sketch(network, config, side, shelf) for side, network in enumerate((problem.left, problem.right)))


def recall_sketches(problem: Problem, config: Config, shelf: Shelf) -> tuple[FloatArray, ...] | None:
    """The sketches as they lie on the shelf; None where one is missing."""
    keys = [_key(network, config, side) for side, network in enumerate((problem.left, problem.right))]
    pieces = [piece for key in keys if (piece := shelf.get(key)) is not None]
    return tuple(piece.arrays["vectors"] for piece in pieces) if len(pieces) == len(keys) else None


def _sketch(network: Network, config: Config, side: int, shelf: Shelf) -> FloatArray:
    def make() -> Piece:
        return Piece({"vectors": sketch_network(network, *_how(config, side))})

    return get_or_make(shelf, _key(network, config, side), make).arrays["vectors"]


def _how(config: Config, side: int) -> tuple[int, int, int]:
    """Dimensions, smoothing and seed."""
    return config.mgcn.dimensions, config.partition.sketch_steps, 2 * config.seed + side


def _key(network: Network, config: Config, side: int) -> str:
    A = network.adjacency
    return digest(["sketch", *_how(config, side)], A.indptr, A.indices)
