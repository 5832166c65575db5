"""Gates tuned by held-out edges: the best of the shifts tried, the model as it was, and the tuned shares reported."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from graphs import communities

from kedge.config import resolve
from kedge.hypergraph import build_hypergraph
from kedge.mgcn import embed
from kedge.mgcn.gates import NO_SHIFTS, read_shifted, read_tuned
from kedge.mgcn.model import Mgcn, prepare
from kedge.types import FloatArray, Network

NETWORK = communities(60, 3, 0.4, 0.03, 0)


def model(*assignments: str) -> Mgcn:
    config = resolve(assignments=["mgcn.dimensions=6", "hypergraph.nearest=8", *assignments])
    operators = prepare(NETWORK, build_hypergraph(NETWORK, config.hypergraph), config.mgcn)
    generator = torch.Generator().manual_seed(0)
    return Mgcn(operators, config.mgcn, torch.randn((60, 6), generator=generator), generator)


def vectors_of(made: Mgcn) -> FloatArray:
    with torch.no_grad():
        return np.asarray(made().numpy().copy())


def test_a_check_moves_to_the_best_of_the_shifts_a_step_away_and_leaves_the_model_as_it_was() -> None:
    made = model("mgcn.levels=hypergraph")
    learned, before = made.gates.detach().clone(), vectors_of(made)
    target = read_shifted(made, lambda: vectors_of(made), (0.0, 3.0))[0]
    shifts = NO_SHIFTS
    reached = []
    for _ in range(8):
        found = read_tuned(made, lambda: vectors_of(made), lambda X: -float(np.abs(X - target).sum()), shifts)
        shifts = found.shifts
        reached.append(found.auc)
    assert shifts == (0.0, 3.0)
    assert reached == sorted(reached)
    assert torch.equal(made.gates, learned)
    assert np.array_equal(vectors_of(made), before)


def test_what_a_shifted_gate_passes_on_is_the_logistic_of_its_sum() -> None:
    made = model()
    found = read_tuned(made, lambda: vectors_of(made), lambda _: 1.0, (1.0, -2.0))  # all equal: the last shifts stay
    z = made.operators.standing.numpy()
    expected = [
        float((1 / (1 + np.exp(-(a + b * z + s)))).mean())
        for (a, b), s in zip(made.gates.tolist(), (1.0, -2.0), strict=True)
    ]
    assert found.shifts == (1.0, -2.0)
    assert np.allclose(found.gates, expected, atol=1e-6)


def test_gates_of_absent_levels_and_of_settings_without_tuning_are_not_shifted() -> None:
    tried: list[FloatArray] = []
    for assignments, count in (
        ((), 5),
        (("mgcn.levels=simple",), 3),
        (("mgcn.tune_gates=false",), 1),
        (("mgcn.gate=fixed",), 1),
    ):
        made = model(*assignments)
        tried.clear()
        read_tuned(made, partial(vectors_of, made), lambda X: float(tried.append(X) or 0), NO_SHIFTS)
        assert len(tried) == count


def fitted(network: Network, *assignments: str) -> tuple[float, tuple[float, float]]:
    fit = embed(
        network, resolve(assignments=[*"mgcn.dimensions=8 mgcn.steps=80 mgcn.release=0".split(), *assignments]), 0
    )
    assert fit.auc is not None
    return fit.auc, fit.shifts


def test_tuned_vectors_separate_held_out_edges_at_least_as_well_as_untuned_ones() -> None:
    network = communities(150, 5, 0.3, 0.02, 1)
    plain, untouched = fitted(network, "mgcn.tune_gates=false")
    tuned, _ = fitted(network)
    assert untouched == NO_SHIFTS
    assert tuned >= plain


def test_a_second_training_on_all_edges_reads_vectors_with_the_shifts_that_were_found() -> None:
    network = communities(150, 5, 0.3, 0.02, 1)
    _, shifts = fitted(network)
    assert fitted(network, "mgcn.refit=true")[1] == shifts
