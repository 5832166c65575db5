"""Vectors that no anchor enters are made once; those that depend on anchors are made for each set of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kedge_problems import planted
from scipy.sparse import csr_array

from kedge.config import resolve
from kedge.context.run_context import MemoryCache, RunContext
from kedge.methods import METHODS
from kedge.types import Hypergraph

SHORT = "mgcn.steps=40 mgcn.held_out=0 mgcn.dimensions=8 baselines.dimensions=8 baselines.walks=1".split()
SHORT += "baselines.steps=60 baselines.learning_rate=0.05".split()


class Counting(MemoryCache):
    """A cache that counts what is put into it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def put(self, key: Any, piece: Any) -> None:
        self.count += 1
        super().put(key, piece)


@pytest.mark.parametrize(
    "name",
    "gcn hgnn hypergcn dhgnn autoencoder deepwalk node2vec line spectral mds graph-factorisation deeplink".split(),
)
def test_vectors_are_cached_for_runs_with_fewer_anchors(name: str) -> None:
    problem, cache = planted(40), Counting()
    fewer = replace(problem, anchors=problem.anchors[:30])
    config = resolve(assignments=[f"method={name}", *SHORT])
    for given in (problem, fewer):
        found = METHODS[name].align(given, config.model_copy(update={"seed": 3}), RunContext(cache))
        alone = METHODS[name].align(given, config.model_copy(update={"seed": 3}))
        np.testing.assert_array_equal(found.left, alone.left)
        np.testing.assert_array_equal(found.right, alone.right)
    assert cache.count == 1
    METHODS[name].align(problem, config.model_copy(update={"seed": 4}), RunContext(cache))
    assert cache.count == 2, "another seed"


def test_hyperedges_around_anchors_are_drawn_anew() -> None:
    problem, cache = planted(40), Counting()
    config = resolve(assignments=["method=hgnn", "hypergraph.builders=anchor", *SHORT])
    for count in (40, 30):
        METHODS["hgnn"].align(replace(problem, anchors=problem.anchors[:count]), config, RunContext(cache))
    assert cache.count == 2


@pytest.mark.parametrize("name", ["hgnn", "hypergcn"])
def test_hyperedges_of_profiles_are_convolved_and_other_ones_are_drawn_anew(name: str) -> None:
    problem, cache = planted(40), Counting()
    config = resolve(assignments=[f"method={name}", "hypergraph.builders=neighbourhood+profiles", *SHORT])
    found = []
    for count in (7, 9):  # accounts by their number modulo this share a value
        left, right = (
            Hypergraph(csr_array(np.eye(count, dtype=np.float32)[np.arange(network.n) % count]))
            for network in (problem.left, problem.right)
        )
        given = replace(problem, shared_values=(left, right))
        found.append(METHODS[name].align(given, config, RunContext(cache)).left)
    assert cache.count == 2
    assert not np.allclose(found[0], found[1])


def test_walks_are_shared_by_the_methods_that_walk() -> None:
    cache = Counting()
    for name in ("deepwalk", "deeplink"):
        METHODS[name].align(planted(40), resolve(assignments=[f"method={name}", *SHORT]), RunContext(cache))
    assert cache.count == 1
