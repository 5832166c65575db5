"""The lists of best candidates: whole in any bands and threads, the best of both sides, united without loss."""

from __future__ import annotations

import evidence_oracle as oracle
import numba
import numpy as np
import pytest
from evidence_problems import dense, planted
from scipy.sparse import csr_array

from kedge.config import EvidenceConfig
from kedge.evidence import round as evidence_round
from kedge.evidence.kernels import BestLists, deal, grouped_softmax, unite
from kedge.evidence.propagate import propagate
from kedge.types import Network, Problem

FEW = EvidenceConfig(rounds=6, least_rounds=6, candidates=3, keep=4)  # lists that are full, with equals at their ends


def tied() -> tuple[Problem, csr_array]:
    """A planted pair beside leaves of one hub that nobody can tell apart, and a prior all over it."""
    problem, _ = planted(n=80, seed=4)
    leaves = [(80, 81 + i) for i in range(12)]
    networks = [
        Network.from_edges(np.concatenate([np.argwhere(np.triu(network.adjacency.toarray())), leaves]), 93)
        for network in (problem.left, problem.right)
    ]
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 93, (200, 2)), axis=0)
    prior = csr_array((rng.integers(1, 4, len(pairs)).astype(float), tuple(pairs.T)), shape=(93, 93))
    return Problem(*networks, np.concatenate([problem.anchors, [(80, 80)]])), prior


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("band", [20, 1e9])
def test_full_lists_are_the_same_in_any_bands_and_threads(
    monkeypatch: pytest.MonkeyPatch, band: float, threads: int
) -> None:
    problem, prior = tied()
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    want = propagate(problem, FEW, prior).log_odds
    cuts, cut = [], evidence_round._bands
    monkeypatch.setattr(evidence_round, "_bands", lambda *a: cuts.append(cut(*a)) or cuts[-1])
    monkeypatch.setattr(evidence_round, "MOST_MESSAGES", band)
    monkeypatch.setattr(evidence_round, "_ALONE", 0)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    got = propagate(problem, FEW, prior).log_odds
    assert (max(len(bounds) for bounds in cuts) > 2) == (band == 20)
    np.testing.assert_array_equal(got.indptr, want.indptr)
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_array_equal(got.data, want.data)


def test_no_more_threads_run_than_lists_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    much = np.full(3, 1e9)
    monkeypatch.setattr(evidence_round, "_LISTS", 12 * 50 * 1000 * 3)
    assert evidence_round._workers(1000, 50, much, 8) == 3
    assert evidence_round._workers(10_000, 50, much, 8) == 1
    assert evidence_round._workers(10, 50, much, 8) == 8
    assert evidence_round._workers(10, 50, np.ones(3), 8) == 1, "little is said"


@pytest.mark.parametrize("side", [0, 1])
def test_few_candidates_are_the_best_of_the_oracles_row_and_column(side: int) -> None:
    problem, _ = planted(n=50, seed=3)
    got = dense(propagate(problem, EvidenceConfig(rounds=1, keep=3)))
    want = oracle.propagate(problem, 1, 4.0, 1.0, 0.01)
    if side:
        got, want = got.T, want.T
    kept = np.isfinite(got)
    np.testing.assert_allclose(got[kept], want[kept], atol=1e-4)
    for u in np.flatnonzero(kept.any(axis=1)):
        best = np.sort(want[u])[-3:]
        assert set(np.round(best[np.isfinite(best)], 3)) <= set(np.round(got[u][kept[u]], 3))


@pytest.mark.parametrize(("n", "m"), [(30, 20), (1, 1), (0, 3), (3, 0)])
def test_united_lists_have_every_pair_once_and_sorted(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    S, want, lists = rng.normal(size=(n, m)), np.zeros((n, m), np.bool_), []
    for scores, kept in ((S, want), (S.T, want.T)):
        accounts = np.full((len(scores), 6), -7, np.int32)  # what is beyond `sizes` is never read
        values = np.full(accounts.shape, np.nan)
        sizes = rng.integers(0, min(6, scores.shape[1]) + 1, len(scores))
        for u, size in enumerate(sizes):
            chosen = rng.permutation(scores.shape[1])[:size]
            accounts[u, :size], values[u, :size] = chosen, scores[u, chosen]
            kept[u, chosen] = True
        lists.append(BestLists(accounts, values, sizes))
    indptr, indices, data = unite(lists[0], deal(lists[1], n), 0)
    rows, columns = np.nonzero(want)
    np.testing.assert_array_equal(np.repeat(np.arange(n), np.diff(indptr)), rows)
    np.testing.assert_array_equal(indices, columns)
    np.testing.assert_array_equal(data, S[rows, columns])


def test_a_softmax_has_its_background_among_its_members() -> None:
    values = np.array([1.0, -2.0, 3.0, 900.0, 899.0, -900.0])
    group = np.array([0, 2, 0, 3, 3, 4])  # nobody in group 1
    got = grouped_softmax(values, group, 5, 7.0)
    for one in (0, 2):
        inside = np.exp(values[group == one])
        np.testing.assert_allclose(got[group == one], inside / (inside.sum() + 7))
    np.testing.assert_allclose(got[3:5], np.exp([0, -1]) / (1 + np.exp(-1)))
    assert got[5] == 0
    assert len(grouped_softmax(values[:0], group[:0], 5, 7.0)) == 0


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("work", [[], [0.0, 0.0, 0.0], [1.0], [5.0, 0.0, 0.0, 1.0], [1.0] * 20])
def test_shares_follow_each_other_and_have_every_account(work: list[float], threads: int) -> None:
    shares = evidence_round.shares(np.array(work), threads)
    assert len(shares) == threads
    assert [u for begin, end in shares for u in range(begin, end)] == list(range(len(work)))
