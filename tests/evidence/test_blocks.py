"""Rounds in blocks: the same bytes for any number of them, out of core, after a kill, and with damaged files."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_problems import assert_same, planted
from scipy.sparse import csr_array

from kedge.config import EngineConfig, EvidenceConfig
from kedge.context import CacheEntry, Noting, Silent
from kedge.evidence import Where
from kedge.evidence.beliefs import believed, two_sided
from kedge.evidence.blocks import Block, lists_of, score_block
from kedge.evidence.propagate import kept_of, propagate
from kedge.linalg import row_index
from kedge.store.cache import DiskCache
from kedge.types import KedgeError, Problem

FEW = EvidenceConfig(rounds=6, least_rounds=6, candidates=3, keep=5)


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.evidence.propagate._CACHED", 0)


def problem() -> Problem:
    found, _ = planted(n=90, seed=4)
    return replace(found, rejected=np.array([(3, 3), (40, 41)]))


@pytest.mark.parametrize("blocks", [2, 3, 17, 400])
def test_any_number_of_blocks_gives_the_same_bytes(blocks: int, tmp_path: Path) -> None:
    want = propagate(problem(), FEW)
    notes = Noting(Silent())
    where = Where(cache=DiskCache(tmp_path / "cache", notes.note), progress=notes, blocks=blocks, band=30)
    assert_same(propagate(problem(), FEW, where=where), want)
    assert list((tmp_path / "cache").iterdir()) == [], "nothing is left behind"


class StopError(Exception):
    pass


class Frail(DiskCache):
    """A cache whose owner is killed at its n-th entry."""

    left = 0

    def put(self, key: str, entry: CacheEntry) -> None:
        super().put(key, entry)
        self.left -= 1
        if self.left == 0:
            raise StopError


@pytest.mark.parametrize("entries", [1, 2, 3, 6, 11])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_command_that_was_killed_goes_on_with_the_same_bytes(entries: int, blocks: int, tmp_path: Path) -> None:
    want = propagate(problem(), FEW)
    frail = Frail(tmp_path / "cache", len)
    frail.left = entries
    try:
        propagate(problem(), FEW, where=Where(cache=frail, blocks=blocks))
        assert blocks == 1, "it has written more than that"
    except StopError:
        assert list((tmp_path / "cache").iterdir())
    notes = Noting(Silent())
    again = Where(cache=DiskCache(tmp_path / "cache", notes.note), progress=notes, blocks=blocks)
    assert_same(propagate(problem(), FEW, where=again), want)
    assert (entries > 6) or any("goes on after round" in note for note in notes.notes) or blocks == 1
    assert list((tmp_path / "cache").iterdir()) == []


class Clumsy(DiskCache):
    """A cache whose files are damaged once they are written."""

    def put(self, key: str, entry: CacheEntry) -> None:
        super().put(key, entry)
        path = self._path(key)
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)


def test_damaged_and_missing_blocks_are_named_and_scored_again(tmp_path: Path) -> None:
    notes: list[str] = []
    where = Where(cache=Clumsy(tmp_path / "cache", notes.append), blocks=3)
    assert_same(propagate(problem(), FEW, where=where), propagate(problem(), FEW))
    assert notes
    assert all("was damaged and is computed again" in note for note in notes)


def test_a_limit_below_a_block_is_one_line() -> None:
    where = Where(engine=EngineConfig(max_memory_mb=1))
    with pytest.raises(KedgeError, match="a block of evidence needs about"):
        propagate(problem(), FEW, where=where)


def test_a_limit_divides_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kedge.evidence.blocks.resident_mb", lambda: 0.0)
    seen: list[Block] = []
    score = score_block
    monkeypatch.setattr(
        "kedge.evidence.blocks.score_block", lambda block, *more: seen.append(block) or score(block, *more)
    )
    monkeypatch.setattr("kedge.evidence.blocks.needed_mb", lambda _fixed, _keep, _result, count, _band: 10 / count)
    where = Where(engine=EngineConfig(max_memory_mb=3), cache=DiskCache(tmp_path / "cache", len))
    assert_same(propagate(problem(), FEW, where=where), propagate(problem(), FEW))
    assert len({(block.first, block.last) for block in seen}) >= 4


def test_a_worker_of_another_version_refuses() -> None:
    nothing: Any = None
    with pytest.raises(KedgeError, match="a worker has kedge"):
        score_block(Block(0, 1, 1, version="0"), nothing, nothing)


def test_beliefs_block_by_block_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    L = csr_array(np.where(rng.random((40, 30)) < 0.2, 20 * rng.random((40, 30)) - 8, 0.0))
    cuts = [0, 7, 7, 25, 40]

    def parts() -> Any:
        for low, high in pairwise(cuts):
            yield low, csr_array(L[low:high])

    want = two_sided(L, 1.3)
    left, right, found = believed(parts, (40, 30), 1.3, 0.01)
    kept = want >= 0.01
    np.testing.assert_array_equal(found, want[kept])
    np.testing.assert_array_equal(left, row_index(L)[kept])
    np.testing.assert_array_equal(right, L.indices[kept])


def test_lists_are_read_back_as_they_were() -> None:
    arrays = {
        "left_accounts": np.array([4, 2, 9], np.int32),
        "left_scores": np.array([1.0, 2.0, 3.0]),
        "left_sizes": np.array([2, 0, 1]),
    }
    lists = lists_of(arrays, "left", 2)
    assert lists.accounts[0].tolist() == [4, 2]
    assert lists.scores[2, 0] == 3.0
    assert lists.sizes.tolist() == [2, 0, 1]


def test_results_of_large_networks_have_fewer_candidates() -> None:
    some = problem()
    assert kept_of(some, EvidenceConfig(entries=10**9)) == 50
    assert kept_of(some, EvidenceConfig(entries=20 * (some.left.n + some.right.n))) == 20
    assert kept_of(some, EvidenceConfig(entries=1)) == 10
    assert kept_of(some, EvidenceConfig(entries=1, keep=3)) == 3
