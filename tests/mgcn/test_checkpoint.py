"""A training that is interrupted goes on from its last state, and ends with the same bytes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import communities

from kedge.config import resolve
from kedge.context import RunContext
from kedge.embedding.network import embed_network
from kedge.embedding.plan import Source
from kedge.embedding.states import PartStates
from kedge.mgcn import embed
from kedge.store import DiskCache

NETWORK = communities(80, 4, 0.5, 0.02, 0)
# Edges held out, dropped, released from the levels and trained on again: all phases, both generators.
CONFIG = resolve(
    assignments="mgcn.dimensions=6 mgcn.steps=24 mgcn.check_every=3 mgcn.release=9 mgcn.refit=true mgcn.pool=32 "
    "mgcn.held_out=0.2 mgcn.stop=edges engine.checkpoint=1e-9".split()
)


class KilledError(Exception):
    """As a kill, at a chosen step."""


def stop_at(total: int) -> Any:
    steps = iter(range(1, 10_000))

    def progress(*_: object) -> None:
        if next(steps) == total:
            raise KilledError

    return progress


def refuse(warning: str) -> None:
    raise AssertionError(warning)


@pytest.mark.parametrize("after", [5, 20, 26, 40])
def test_a_training_that_was_interrupted_ends_with_the_same_bytes(tmp_path: Path, after: int) -> None:
    whole = embed(NETWORK, CONFIG, 3)
    states = PartStates(DiskCache(tmp_path / "states", refuse), "part", 0.0)
    taken: list[int] = []
    with pytest.raises(KilledError):
        embed(NETWORK, CONFIG, 3, stop_at(after), checkpoint=states)
    resumed = embed(NETWORK, CONFIG, 3, lambda step, *_: taken.append(step), checkpoint=states)
    assert np.array_equal(resumed.vectors, whole.vectors)
    assert np.array_equal(resumed.losses, whole.losses)
    assert (resumed.auc, resumed.checks, resumed.gates) == (whole.auc, whole.checks, whole.gates)
    fresh: list[int] = []
    embed(NETWORK, CONFIG, 3, lambda step, *_: fresh.append(step))
    assert len(taken) == len(fresh) - after + 1, "only the interrupted step is taken again"


def test_a_damaged_state_is_named_and_not_used(tmp_path: Path) -> None:
    noted: list[str] = []
    states = PartStates(DiskCache(tmp_path, noted.append), "part", 0.0)
    with pytest.raises(KilledError):
        embed(NETWORK, CONFIG, 3, stop_at(8), checkpoint=states)
    (file,) = tmp_path.glob("*.safetensors")
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(bytes(content))
    again = embed(NETWORK, CONFIG, 3, checkpoint=states)
    assert any("was damaged and is computed again" in note for note in noted)
    assert np.array_equal(again.vectors, embed(NETWORK, CONFIG, 3).vectors)


def test_states_are_saved_by_workers_and_removed_with_the_end_of_their_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[str] = []
    put = DiskCache.put
    monkeypatch.setattr(DiskCache, "put", lambda self, key, entry: (saved.append(key), put(self, key, entry)))
    cache = DiskCache(tmp_path / "cache", refuse)
    embed_network(Source(NETWORK, np.empty(0, np.int64), 0, "it"), CONFIG, RunContext(cache))
    assert sum(key.endswith("-first") for key in saved) > 5
    assert [path.stem for path in (tmp_path / "cache").iterdir()] == [saved[-1]], "the finished network alone is left"
    copied = pickle.loads(pickle.dumps(PartStates(cache, "part", 1.0)))  # as it goes to a worker
    assert copied.cache.get(saved[-1]) is not None


def test_a_part_that_takes_less_than_a_minute_writes_no_state(tmp_path: Path) -> None:
    embed(NETWORK, CONFIG, 3, checkpoint=PartStates(DiskCache(tmp_path, refuse), "part", 60.0))
    assert not list(tmp_path.iterdir())
