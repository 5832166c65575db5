"""Training: it learns, it says when it does not, it is the same at each run and thread count, it refuses bad input."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from graphs import communities, random_hypergraph
from scipy.sparse import csr_array

from kedge.config import PRESETS, resolve
from kedge.embedding.plan import check_features
from kedge.errors import KedgeError
from kedge.hypergraph import DegenerateHypergraphWarning
from kedge.methods.mgcn import embed_both
from kedge.mgcn import embed
from kedge.mgcn.holdout import area_under_curve, draw_non_edges, hold_out, list_edges, score_pairs
from kedge.mgcn.train import judge
from kedge.types import Hypergraph, Network, Problem

SMALL = ["mgcn.dimensions=16", "mgcn.steps=60", "mgcn.pool=64", "hypergraph.nearest=8"]


def config(*assignments: Any, preset: str = "default") -> Any:
    return resolve(preset, assignments=[*SMALL, *assignments])


@pytest.fixture(scope="module")
def network() -> Any:
    return communities(120, 4, 0.3, 0.01, 0)


def test_vectors_predict_edges(network: Any) -> None:
    held = hold_out(network, 0.15, np.random.default_rng(5))
    fit = embed(held.network, config(), 0)
    assert fit.verdict == "trained"
    assert fit.trained
    assert fit.vectors.shape == (120, 16)
    assert fit.vectors.dtype == np.float32
    assert fit.losses[-1] < 0.8 * fit.trivial
    auc = area_under_curve(score_pairs(fit.vectors, held.edges), score_pairs(fit.vectors, held.non_edges))
    assert auc > 0.8
    assert fit.auc == max(auc for _, auc in fit.checks)
    assert fit.steps == next(step for step, auc in fit.checks if auc == fit.auc)


@pytest.mark.parametrize("levels", ["both", "simple", "hypergraph"])
@pytest.mark.parametrize("fusion", ["concat", "basis", "sum", "linear"])
def test_every_fusion_and_level_trains(network: Any, levels: str, fusion: str) -> None:
    fit = embed(network, config(f"mgcn.levels={levels}", f"mgcn.fusion={fusion}", "mgcn.transform=true"), 0)
    assert fit.trained
    assert fit.auc > 0.75


@pytest.mark.parametrize("start", ["free", "autoencoder", "given"])
def test_every_start_trains(network: Any, start: str) -> None:
    features = np.random.default_rng(0).normal(size=(120, 5)) / 4 + np.eye(5)[np.arange(120) % 4]
    fit = embed(network, config(f"mgcn.start={start}", "mgcn.dropout=0"), 0, features=check_features(features, 120))
    assert fit.trained


@pytest.mark.parametrize("builders", ["anchor", "centrality", "latent", "neighbourhood+anchor"])
def test_every_builder_trains(network: Any, builders: str) -> None:
    fit = embed(network, config(f"hypergraph.builders={builders}", "mgcn.skip=true"), 0, anchors=np.arange(0, 120, 9))
    assert fit.trained


def test_a_given_hypergraph(network: Any) -> None:
    H = random_hypergraph(120, 9, 0.3, 0)
    mine = embed(network, config("mgcn.skip=true"), 0, hypergraph=H)
    assert mine.trained
    assert not np.array_equal(mine.vectors, embed(network, config("mgcn.skip=true"), 0).vectors)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_trains(network: Any, preset: Any) -> None:
    fit = embed(network, config("mgcn.steps=100", preset=preset), 0)
    assert fit.trained


def test_the_settings_as_printed_collapse_and_the_verdict_states_it(network: Any) -> None:
    letter = ["weighing=paper", "unit=false", "activation=relu", "transform=true", "identity=false", "share=false"]
    letter += ["theta=paper", "layers=2", "fusion=sum", "dropout=0", "learning_rate=0.01", "skip=false", "drop_edges=0"]
    letter += ["gate=fixed", "blend=1"]
    fit = embed(network, config(*[f"mgcn.{setting}" for setting in letter], "mgcn.patience=100"), 0)
    assert fit.trivial == pytest.approx(11 * np.log(2))
    assert fit.verdict == "collapsed"
    assert not fit.trained


@pytest.mark.parametrize(
    ("losses", "auc", "vectors", "verdict"),
    [
        ([], None, np.eye(3), "nothing to learn"),
        ([1.38, 1.0], 0.9, np.eye(3), "trained"),
        ([1.38, 1.38], 0.9, np.eye(3), "collapsed"),
        ([1.38, 0.6], 0.5, np.eye(3), "collapsed"),
        ([1.38, 0.6], None, np.ones((3, 3)), "collapsed"),
        ([1.38, 0.6], None, np.eye(3), "trained"),
    ],
)
def test_the_verdict(losses: Any, auc: float | None, vectors: Any, verdict: str) -> None:
    assert judge(np.array(losses), 1.386, auc, vectors) == verdict


def test_the_same_seed_gives_the_same_vectors(network: Any) -> None:
    first, again, other = (embed(network, config(), seed).vectors for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.fixture
def threads() -> Iterator[Any]:
    """As many threads of torch as before at the end."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_does_not_matter() -> None:
    network = communities(1100, 6, 0.08, 0.004, 1)  # large enough for more than one thread
    few = resolve(assignments=["mgcn.steps=12", "mgcn.dimensions=256", "mgcn.release=0"])
    found, used = [], set()
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found.append(embed(network, few, 0, lambda *_: used.add(torch.get_num_threads())).vectors)
    assert used == {1, 2, 3}
    for vectors in found[1:]:
        np.testing.assert_allclose(vectors, found[0], atol=1e-5)


@pytest.mark.usefixtures("threads")
def test_a_small_network_trains_on_one_thread(network: Any) -> None:
    torch.set_num_threads(2)
    used = set()
    embed(network, config("mgcn.steps=2"), 0, lambda *_: used.add(torch.get_num_threads()))
    assert used == {1}
    assert torch.get_num_threads() == 2


def test_progress_is_called_each_step(network: Any) -> None:
    calls = []
    fit = embed(network, config("mgcn.release=0"), 0, lambda *words: calls.append(words))
    assert [step for step, _, _ in calls] == list(range(1, len(fit.losses) + 1))
    assert np.allclose([loss for _, loss, _ in calls], fit.losses)
    assert {trivial for _, _, trivial in calls} == {fit.trivial}


def test_refitting_uses_all_edges_for_the_steps_found(network: Any) -> None:
    once = embed(network, config(), 0)
    twice = embed(network, config("mgcn.refit=true"), 0)
    assert twice.auc == once.auc
    assert twice.steps == once.steps == len(twice.losses)
    assert not np.allclose(once.vectors, twice.vectors)


@pytest.fixture(scope="module")
def misleading() -> Hypergraph:
    """Hyperedges of accounts that have nothing to do with each other."""
    H = np.random.default_rng(0).random((120, 120)) < 8 / 120
    np.fill_diagonal(H, False)
    return Hypergraph(csr_array(H.astype(np.float32)))


FORCED = ["mgcn.levels=hypergraph", "mgcn.gate=fixed", "mgcn.blend=0.55", "mgcn.learning_rate=0.3"]


def test_the_gate_of_a_level_that_harms_falls_and_of_one_that_helps_rises(network: Any, misleading: Hypergraph) -> None:
    alone = config("mgcn.levels=hypergraph", "mgcn.steps=100", "mgcn.release=0", "mgcn.tune_gates=false")
    helped, harmed = embed(network, alone, 0), embed(network, alone, 0, hypergraph=misleading)
    assert harmed.gates[1] < 0.2 < 0.5 < helped.gates[1]
    forced = embed(network, config(*FORCED, "mgcn.release=0"), 0, hypergraph=misleading)
    assert harmed.auc > forced.auc + 0.02


def test_vectors_leave_a_level_that_harms(network: Any, misleading: Hypergraph) -> None:
    bound = embed(network, config(*FORCED, "mgcn.release=0"), 0, hypergraph=misleading)
    calls = []
    free = embed(network, config(*FORCED), 0, lambda *words: calls.append(words[0]), hypergraph=misleading)
    assert bound.released == 0 < free.released
    assert free.auc > bound.auc + 0.01
    assert free.steps == bound.steps + free.released == next(step for step, auc in free.checks if auc == free.auc)
    assert len(free.losses) >= free.steps
    assert calls == sorted(set(calls))  # the bar never goes back


def test_vectors_stay_where_held_out_edges_do_not_gain() -> None:
    network = communities(300, 6, 0.15, 0.01, 2)
    stayed, bound = (embed(network, config(f"mgcn.release={steps}"), 0) for steps in (60, 0))
    assert stayed.released == 0
    assert np.array_equal(stayed.vectors, bound.vectors)


def test_a_refit_is_released_for_as_many_steps(network: Any, misleading: Hypergraph) -> None:
    once, again = (
        embed(network, config(*FORCED, f"mgcn.refit={refit}"), 0, hypergraph=misleading) for refit in ("false", "true")
    )
    assert again.released == once.released > 0
    assert again.steps == once.steps == len(again.losses)


def test_patience_stops_early(network: Any) -> None:
    fit = embed(network, config("mgcn.patience=1", "mgcn.check_every=1", "mgcn.learning_rate=0.2"), 0)
    assert len(fit.losses) < 60


def test_all_edges_and_all_steps_where_nothing_may_stop(network: Any) -> None:
    hasty = ["mgcn.patience=1", "mgcn.check_every=1", "mgcn.learning_rate=0.2"]
    fit = embed(network, config(*hasty, "mgcn.stop=never"), 0)
    none_left_out = embed(network, config(*hasty, "mgcn.held_out=0"), 0)
    assert fit.steps == len(fit.losses) == 60
    assert fit.auc is None
    np.testing.assert_array_equal(fit.vectors, none_left_out.vectors)


def test_auto_stops_early_except_for_matching(network: Any) -> None:
    """A match takes all steps unless edges are asked for; vectors by themselves are stopped by the edges left out."""
    anchors = np.column_stack([np.arange(60)] * 2)
    hasty = ["mgcn.patience=1", "mgcn.check_every=10", "mgcn.learning_rate=0.2"]
    taken = {}
    for stop in ("auto", "edges"):
        settings = config(*hasty, f"mgcn.stop={stop}")
        sides = embed_both(Problem(network, network, anchors), settings, 0, None)
        taken[stop] = [made.steps[0] for made in sides]
    assert taken["auto"] == [60, 60]
    assert min(taken["edges"]) < 60
    assert embed(network, config(*hasty), 0).steps < 60


@pytest.mark.parametrize(
    "network",
    [Network.from_edges([], 0), Network.from_edges([], 1), Network.from_edges([], 5)],
    ids=["empty", "one account", "no edges"],
)
def test_where_there_is_nothing_to_learn_vectors_are_zero(network: Any) -> None:
    fit = embed(network, config(), 0)
    assert fit.verdict == "nothing to learn"
    assert fit.vectors.shape == (network.n, 16)
    assert not fit.vectors.any()


def test_isolated_accounts_get_zero() -> None:
    network = communities(60, 2, 0.4, 0.02, 0)
    wider = Network.from_edges(list_edges(network), 63)
    fit = embed(wider, config(), 0)
    assert not fit.vectors[60:].any()
    assert fit.vectors[:60].any(axis=1).all()


def test_tiny_networks_and_more_dimensions_than_accounts() -> None:
    tiny = Network.from_edges([(0, 1), (1, 2)], 3)
    with pytest.warns(DegenerateHypergraphWarning, match="degenerate"):
        fit = embed(tiny, config("mgcn.dimensions=50", "hypergraph.nearest=99"), 0)
    assert fit.auc is None  # too few edges to leave any out
    assert np.isfinite(fit.vectors).all()
    assert len(fit.losses) == 60


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (None, "needs features"),
        (np.full((120, 2), np.nan), "NaN"),
        (np.full((120, 2), np.inf), "infinity"),
        (np.ones((7, 2)), "one row"),
        (np.ones((120, 0)), "one row"),
        (np.ones(120), "one row"),
    ],
)
def test_bad_features_are_refused(network: Any, features: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        given = None if features is None else check_features(features, network.n)
        embed(network, config("mgcn.start=given"), 0, features=given)


def test_a_loss_that_is_not_a_number_is_refused(network: Any) -> None:
    features = np.full((120, 2), 1e30, np.float32)
    with pytest.raises(KedgeError, match="learning_rate"):
        embed(network, config("mgcn.start=given", "mgcn.unit=false", "mgcn.dropout=0"), 0, features=features)


def test_a_degenerate_hypergraph_is_warned_of() -> None:
    clique = Network.from_edges([(i, j) for i in range(12) for j in range(i)], 12)
    with pytest.warns(DegenerateHypergraphWarning, match="degenerate hypergraph"):
        embed(clique, config("hypergraph.nearest=0"), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embed(clique, config("hypergraph.nearest=3"), 0)


def test_held_out_edges_are_gone_and_accounts_keep_one(network: Any) -> None:
    held = hold_out(network, 0.3, np.random.default_rng(0))
    assert held.network.edges + len(held.edges) == network.edges
    assert (held.network.degrees[network.degrees > 0] > 0).all()
    left = {tuple(pair) for pair in list_edges(held.network)}
    assert not left & {tuple(pair) for pair in held.edges}
    assert not {tuple(pair) for pair in list_edges(network)} & {tuple(pair) for pair in held.non_edges}
    assert hold_out(Network.from_edges([(0, 1)], 2), 0.5, np.random.default_rng(0)) is None


def test_non_edges_run_out_in_a_clique() -> None:
    clique = Network.from_edges([(i, j) for i in range(5) for j in range(i) if (i, j) != (4, 2)], 5)
    assert draw_non_edges(clique, 10, np.random.default_rng(0)).tolist() == [[2, 4]]


def test_ties_count_half() -> None:
    assert area_under_curve(np.zeros(5), np.zeros(3)) == 0.5
    assert area_under_curve(np.array([2.0, 1.0]), np.array([0.0, 1.0])) == pytest.approx(7 / 8)
