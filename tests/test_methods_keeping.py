"""Vectors that no anchor enters are made once, and those that look at anchors are not mistaken for each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_method_kedge import planted

from kedge.config import resolve
from kedge.methods import METHODS
from kedge.workshop import MemoryShelf, Workshop

SHORT = (
    "mgcn.steps=40 mgcn.held_out=0 mgcn.dimensions=8 baselines.steps=5 baselines.dimensions=8 baselines.walks=1".split()
)


class Counting(MemoryShelf):
    """A shelf that counts what is put on it."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = 0

    def put(self, key, piece):
        self.kept += 1
        super().put(key, piece)


@pytest.mark.parametrize("name", ["gcn", "hgnn", "autoencoder", "deepwalk", "deeplink"])
def test_vectors_are_kept_for_runs_with_fewer_anchors(name):
    problem, shelf = planted(40), Counting()
    fewer = replace(problem, anchors=problem.anchors[:30])
    config = resolve(assignments=[f"method={name}", *SHORT])
    for given in (problem, fewer):
        found = METHODS[name](given, config, 3, Workshop(shelf))
        alone = METHODS[name](given, config, 3)
        np.testing.assert_array_equal(found.left, alone.left)
        np.testing.assert_array_equal(found.right, alone.right)
    assert shelf.kept == 1
    METHODS[name](problem, config, 4, Workshop(shelf))
    assert shelf.kept == 2, "another seed"


def test_hyperedges_around_anchors_are_drawn_anew():
    problem, shelf = planted(40), Counting()
    config = resolve(assignments=["method=hgnn", "hypergraph.builders=anchor", *SHORT])
    for count in (40, 30):
        METHODS["hgnn"](replace(problem, anchors=problem.anchors[:count]), config, 0, Workshop(shelf))
    assert shelf.kept == 2


def test_walks_are_shared_by_the_methods_that_walk():
    shelf = Counting()
    for name in ("deepwalk", "deeplink"):
        METHODS[name](planted(40), resolve(assignments=[f"method={name}", *SHORT]), 0, Workshop(shelf))
    assert shelf.kept == 1
