"""Unrelated networks, or anchors that are none: nothing is called a match, and one sentence gives the reason."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import kedge
from kedge.pipeline import MemoryRun, solve
from kedge.types import Network, Problem

N = 120
QUICK = {"mgcn.steps": 20, "mgcn.dimensions": 16, "baselines.dimensions": 8, "baselines.walks": 2, "evidence.rounds": 8}


def graph(kind: str, seed: int) -> Any:
    return networkx.gnm_random_graph(N, 4 * N, seed) if kind == "er" else networkx.barabasi_albert_graph(N, 4, seed)


def unrelated(kind: str, anchors: int, seed: int, true: float = 0.0) -> Problem:
    """Two random networks, or one and its copy under other numbers, with anchors of which a share is `true`."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    left = graph(kind, seed)
    right = networkx.relabel_nodes(left, dict(enumerate(order))) if kind == "copy" else graph(kind, seed + 1000)
    drawn = rng.permutation(N)[:anchors]
    partner = np.full(anchors, -1)
    partner[: round(true * anchors)] = order[drawn[: round(true * anchors)]]
    rest = rng.permutation(np.setdiff1d(np.arange(N), [*partner, *order[drawn]]))
    partner[partner < 0] = rest[: (partner < 0).sum()]
    networks = (Network.from_edges(list(made.edges), N) for made in (left, right))
    return Problem(*networks, np.column_stack([drawn, partner]))


def solved(problem: Problem, method: str, seed: int) -> Any:
    config = kedge.config.resolve(overrides={**QUICK, "method": method, "seed": seed})
    return solve(problem, config, MemoryRun())


CASES = [
    *[
        (method, kind, m)
        for method in ("evidence", "percolation")
        for kind in ("er", "ba", "copy")
        for m in (3, 10, 50)
    ],
    *[(method, "ba", m) for method in ("kedge", "deepwalk", "mgcn") for m in (3, 50)],
]


@pytest.mark.parametrize(("method", "kind", "anchors"), CASES)
def test_random_anchors_give_no_match_and_a_reason(method: str, kind: str, anchors: int) -> None:
    for seed in range(2):
        outcome = solved(unrelated(kind, anchors, seed), method, seed)
        assert not outcome.matches.partners("match")
        right, validated = int(outcome.calibrator.correct.sum()), outcome.calibrator.validated
        assert right <= 3, "by chance"
        if right == 0:
            assert outcome.matches.probability.max() <= 1 / (validated + 2)
            assert any(f"no better than by chance (0 of {validated} right first" in n for n in outcome.calibrator.notes)


@pytest.mark.parametrize("method", ["evidence", "percolation"])
def test_a_tenth_of_true_anchors_gives_no_match(method: str) -> None:
    for seed in range(3):
        assert not solved(unrelated("copy", 50, seed, true=0.1), method, seed).matches.partners("match")


def test_true_anchors_of_a_copy_give_matches() -> None:
    outcome = solved(unrelated("copy", 50, 0, true=1.0), "evidence", 0)
    assert len(outcome.matches.partners("match")) > 50
    assert outcome.calibrator.misfit is None


def test_python_warns_and_has_the_notes() -> None:
    problem = unrelated("ba", 50, 0)
    edges = [
        [(f"{side}{u}", f"{side}{v}") for u, v in np.argwhere(np.triu(network.adjacency.toarray(), 1))]
        for side, network in (("a", problem.left), ("b", problem.right))
    ]
    anchors = {f"a{u}": f"b{v}" for u, v in problem.anchors}
    settings = {**QUICK, "method": "evidence"}
    with pytest.warns(UserWarning, match="validation anchors are found no better than by chance"):
        run = kedge.match(*edges, anchors, settings=settings)
    assert {row.decision for row in run.matches} == {"known"}
    assert sum("no better than by chance" in note for note in run.notes) == 1
    assert any("edges among the anchors are in both networks, no more than by chance" in n for n in run.notes)
    with pytest.warns(UserWarning, match="no better than by chance"):
        linker = kedge.Linker(settings=settings).fit(tuple(edges), anchors)
    assert linker.run_.notes == run.notes
    assert set(linker.predict(anchors)) == set(anchors.values()), "known pairs stay known"
