"""Compiled functions on hostile networks: they check no index, so `make test-bounds` runs this file with checks.

The last test holds that every compiled function of the package has run here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array, random_array

import kedge
from kedge.config import Config, HypergraphConfig
from kedge.errors import KedgeError
from kedge.evidence.kernels import (
    BestLists,
    add_masses,
    background_masses,
    grouped_softmax,
    join,
    raise_peaks,
    weights_of,
)
from kedge.hypergraph.clique import clique_numbers
from kedge.hypergraph.neighbourhood import Graph, Walk, surround, walk_nearest
from kedge.linalg import best_other
from kedge.linalg.assign import assign
from kedge.methods import METHODS
from kedge.profiles.search import best_products
from kedge.types import Network, Problem

CONFIG = Config.model_validate(
    {
        "mgcn": {"dimensions": 8, "steps": 3, "pool": 8},
        "evidence": {"form": "sparse", "rounds": 3, "least_rounds": 1},
        "pairing": {"steps": 3},
        "baselines": {"dimensions": 8, "walks": 2, "walk_length": 5, "passes": 2, "steps": 3, "rounds": 3},
    }
)
# Those that have compiled functions of their own, or that use those of `evidence` and `mgcn`.
NAMES = (
    "evidence",
    "mgcn",
    "deepwalk",
    "node2vec",
    "line",
    "graph-factorisation",
    "hypergcn",
    "ione",
    "netalign",
    "percolation",
    "irma",
)


def weighted(edges: list[tuple[int, int]], n: int, weights: list[float]) -> Network:
    plain = Network.from_edges(edges, n)
    rows, columns = np.array(edges).T
    upper = csr_array((np.array(weights, np.float32), (rows, columns)), shape=(n, n))
    return Network(csr_array(upper + upper.T), plain.ids)


N = 12
PATH = [(i, i + 1) for i in range(N - 1)]
NETWORKS = {
    "one account": Network.from_edges([], 1),
    "no edges": Network.from_edges([], N),
    "one edge": Network.from_edges([(0, 1)], N),
    "a hub": Network.from_edges([(0, i) for i in range(1, N)], N),
    "a clique": Network.from_edges([(i, j) for i in range(N) for j in range(i)], N),
    "a path": Network.from_edges(PATH, N),
    "three components": Network.from_edges([(0, 1), (1, 2), (2, 0), (3, 4), (5, 6), (6, 7)], N),
    "two hubs with all the others": Network.from_edges([(h, i) for h in (0, 1) for i in range(2, N)], N),
    "weights at both bounds": weighted(PATH, N, [1e15 if i % 2 else 1e-15 for i in range(N - 1)]),
}


@pytest.mark.filterwarnings("ignore:degenerate hypergraph")
@pytest.mark.parametrize("name", [*NAMES, "mgcn trained"])
@pytest.mark.parametrize("form", NETWORKS)
def test_methods_score_hostile_networks_with_numbers(name: str, form: str) -> None:
    pytest.importorskip("torch")
    name, _, trained = name.partition(" ")
    space = CONFIG.mgcn.model_copy(update={"space": "projected" if trained else "shared"})
    config = CONFIG.model_copy(update={"mgcn": space})
    network = NETWORKS[form]
    anchors = np.column_stack([np.arange(min(3, network.n))] * 2)
    try:
        alignment = METHODS[name].align(Problem(network, network, anchors), config)
    except KedgeError as error:  # after three steps no vectors are worth much
        assert "collapsed" in str(error)  # noqa: PT017
        return
    scores = alignment.score(np.argwhere(np.ones((network.n, network.n))))
    assert not np.isnan(scores).any()
    assert not np.isposinf(scores).any()


@pytest.mark.parametrize("branches", [1, 20_000])
@pytest.mark.parametrize("form", NETWORKS)
def test_clique_numbers_of_hostile_networks(form: str, branches: int) -> None:
    """With a budget of one branch they are lower bounds, and an account without edges is a clique of its own."""
    network = NETWORKS[form]
    numbers, proved = clique_numbers(network, branches)
    expected = clique_numbers(network)[0]
    assert (numbers <= expected).all()
    np.testing.assert_array_equal(numbers[proved], expected[proved])
    assert (expected[network.degrees == 0] == 1).all()
    assert expected.max() <= network.degrees.max(initial=0) + 1


def test_clique_numbers_of_a_dense_network_take_every_branch() -> None:
    rng = np.random.default_rng(0)
    edges = np.argwhere(np.triu(rng.random((70, 70)) < 0.7, 1))
    network = Network.from_edges(edges, 70)
    numbers, proved = clique_numbers(network)
    A = network.adjacency.toarray() > 0
    assert proved.all()
    for v in range(0, 70, 10):  # no clique of v can be larger than one of its neighbours
        assert numbers[v] <= numbers[A[v]].max()


FLOAT32 = np.finfo(np.float32)
WALKS = {
    "far apart": [float(FLOAT32.max) if i % 2 else float(FLOAT32.smallest_subnormal) for i in range(N - 1)],
    "all largest": [float(FLOAT32.max)] * (N - 1),
    "all smallest": [float(FLOAT32.smallest_subnormal)] * (N - 1),
    "falling": [10.0 ** (7 * (5 - i)) for i in range(N - 1)],
}


@pytest.mark.parametrize("form", WALKS)
@pytest.mark.parametrize("restart", [1e-12, 0.15, 1 - 1e-12])
def test_walks_stay_in_their_room_where_probabilities_underflow(form: str, restart: float) -> None:
    """A step whose probability is below the smallest float reaches nothing; it was counted as new each time."""
    weights = np.clip(WALKS[form], float(FLOAT32.smallest_subnormal), float(FLOAT32.max))
    A = weighted(PATH, N, [*weights]).adjacency
    graph = Graph(A.indptr, A.indices.astype(np.uint32), A.data.astype(np.float64), False)
    nearest, mass, counts = walk_nearest(graph, np.arange(N), Walk(400, restart, N, N))
    assert np.isfinite(mass).all()
    assert ((counts >= 1) & (counts <= N)).all()
    np.testing.assert_array_equal(nearest[:, 0], np.arange(N))
    for row, count in zip(nearest, counts, strict=True):
        assert len(set(row[:count].tolist())) == count, "no account twice"


def test_a_walk_whose_probability_underflows_ends_there() -> None:
    """From account 0 nearly all of the probability goes to 1, and by a path of tiny shares the rest underflows."""
    n = 40
    edges = [(0, 1), *((0, i) for i in range(2, n))]
    A = weighted(edges, n, [float(FLOAT32.max)] + [float(FLOAT32.smallest_subnormal)] * (n - 2)).adjacency
    graph = Graph(A.indptr, A.indices.astype(np.uint32), A.data.astype(np.float64), False)
    _, mass, counts = walk_nearest(graph, np.array([1, 5]), Walk(1000, 0.5, n, n))
    assert np.isfinite(mass).all()
    assert (counts <= n).all()


@pytest.mark.parametrize("weight", [float("inf"), float("nan"), -1.0])
def test_no_walk_starts_on_weights_that_are_none(weight: float) -> None:
    network = weighted(PATH, N, [1.0] * (N - 2) + [weight])
    with pytest.raises(KedgeError, match="negative or not finite"):
        surround(network, HypergraphConfig(), np.arange(N))


@pytest.mark.parametrize("nearest", [0, 1, 4, 100])
@pytest.mark.parametrize("form", NETWORKS)
def test_hyperedges_of_hostile_networks(form: str, nearest: int) -> None:
    network = NETWORKS[form]
    hypergraph = surround(network, HypergraphConfig(nearest=nearest, hops=1000, front=1), np.arange(network.n))
    assert np.isfinite(hypergraph.H.data).all()
    assert (hypergraph.H.diagonal() > 0).all(), "each centre is in its own hyperedge"


@pytest.mark.parametrize("how", ["optimal", "greedy", "many-to-one"])
@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e300])
def test_assignments_of_gains_of_any_size(how: str, scale: float) -> None:
    gain = csr_array(random_array((30, 20), density=0.3, rng=np.random.default_rng(0)) * scale)
    pairs = assign(gain, how)
    assert len(set(pairs[:, 0].tolist())) == len(pairs)
    assert (gain[pairs[:, 0], pairs[:, 1]] > 0).all()
    if how != "many-to-one":
        assert len(set(pairs[:, 1].tolist())) == len(pairs)
    if scale >= 1e-300:
        np.testing.assert_array_equal(pairs, assign(gain / scale, how))


def test_full_and_empty_lists_of_several_threads_are_joined() -> None:
    def lists(sizes: list[int]) -> BestLists:
        scores = np.array([[float("nan"), -np.inf, 3.0], [1.0, 2.0, 3.0], [np.inf, 0.0, 0.0]])
        return BestLists(np.arange(9, dtype=np.int32).reshape(3, 3), scores, np.array(sizes))

    for mine in ([0, 0, 0], [3, 3, 3], [1, 2, 3]):
        for more in ([0, 0, 0], [3, 3, 3], [3, 1, 0]):
            best = lists(mine)
            join(best, lists(more))
            np.testing.assert_array_equal(best.sizes, np.minimum(np.add(mine, more), 3))


@pytest.mark.parametrize("cuts", [[0, 40], [0, 0, 13, 13, 40], list(range(41))])
def test_a_softmax_over_blocks_is_that_of_all_values(cuts: list[int]) -> None:
    rng = np.random.default_rng(6)
    values, group = rng.normal(0, 300, 40), rng.integers(0, 7, 40)
    blocks = [slice(low, high) for low, high in pairwise(cuts)]
    peak = np.zeros(8)
    for block in blocks:
        raise_peaks(values[block], group[block], peak)
    mass = background_masses(peak, 5.0)
    for block in blocks:
        add_masses(values[block], group[block], peak, mass)
    found = [weights_of(values[block], group[block], peak, mass) for block in blocks]
    np.testing.assert_array_equal(np.concatenate(found), grouped_softmax(values, group, 8, 5.0))


@pytest.mark.parametrize("scores", [[3.0, 1.0, 2.0, 2.0], [-np.inf] * 4, [np.inf, 0.0, np.inf, 0.0]])
def test_the_best_other_score_of_a_group(scores: list[float]) -> None:
    group = np.array([2, 2, 0, 2])
    expected = [max([scores[j] for j in range(4) if j != i and group[j] == group[i]], default=-1.0) for i in range(4)]
    np.testing.assert_array_equal(best_other(group, 3, np.array(scores), -1.0), np.maximum(expected, -1.0))
    assert len(best_other(group[:0], 3, np.zeros(0), 0.0)) == 0


@pytest.mark.parametrize("scale", [1.0, 1e-25])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_the_largest_products_of_rows_stay_in_their_room(scale: float, k: int) -> None:
    """Also where every product underflows to 0, and where fewer rows are reached than are asked for."""
    rng = np.random.default_rng(4)
    left, right = (
        csr_array(random_array((n, 12), density=0.4, rng=rng, dtype=np.float32) * np.float32(scale)) for n in (20, 30)
    )
    found = best_products(left, right, k)
    dense = left.toarray() @ right.toarray().T
    for u in range(20):
        mine = found[found[:, 0] == u, 1]
        assert len(set(mine.tolist())) == len(mine) <= k
        if scale == 1.0:
            least = np.sort(dense[u])[::-1][: len(mine)].min(initial=np.inf)
            assert (dense[u, mine] >= least - 1e-5).all()
            assert len(mine) == min(k, int((dense[u] > 0).sum()))
    assert len(best_products(left[:0], right, k)) == 0


@cache
def kernels() -> dict[str, Dispatcher]:
    """Every compiled function of the package."""
    root = Path(kedge.__file__).parent
    found: dict[str, Dispatcher] = {}
    for path in sorted(root.rglob("*.py")):
        if "njit" in path.read_text("utf-8"):
            module = import_module(".".join(["kedge", *path.relative_to(root).with_suffix("").parts]))
            found |= {
                f"{module.__name__}.{name}": value
                for name, value in vars(module).items()
                if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
            }
    return found


RAN: set[str] = set()


@pytest.fixture(autouse=True)
def _ran(request: pytest.FixtureRequest) -> None:
    RAN.add(request.node.nodeid)


def test_every_compiled_function_has_run_here(request: pytest.FixtureRequest) -> None:
    """Called from Python in this file's tests, or from a compiled function that was."""
    pytest.importorskip("torch")
    # Several workers may share the tests of a file; `make test-bounds` leaves each file to one.
    if {item.nodeid for item in request.session.items if item.path == request.path} - RAN:
        pytest.skip("some tests of this file have not run in this process")
    waiting = [kernel for kernel in kernels().values() if kernel.signatures]
    run = set()
    while waiting:
        kernel = waiting.pop()
        if id(kernel) not in run:
            run.add(id(kernel))
            named = (kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names)
            waiting += [value for value in named if isinstance(value, Dispatcher)]
    assert [name for name, kernel in kernels().items() if id(kernel) not in run] == []
