"""One thread for sums: as long as one user is inside, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from kedge.config import Config
from kedge.context.machine import one_blas_thread
from kedge.pipeline import Inputs, match_in_memory, match_to_run


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {one["num_threads"] for one in ThreadpoolController().info() if one["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[Any]:
    with threadpool_limits(2, user_api="blas"):
        yield


def test_blas_has_one_thread_inside_and_as_many_as_before_outside() -> None:
    with pytest.raises(ValueError, match="left by an error"), one_blas_thread():
        assert blas_threads() == {1}
        raise ValueError("left by an error")
    assert blas_threads() == {2}


def test_the_limit_stays_until_the_last_user_leaves() -> None:
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


@pytest.mark.parametrize("kept", [False, True])
def test_a_match_is_decided_with_one_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: bool) -> None:
    seen = []
    stages = import_module("kedge.pipeline.solve")
    decide = stages.decide
    monkeypatch.setattr(stages, "decide", lambda *a: seen.append(blas_threads()) or decide(*a))
    network, anchors = tmp_path / "network.csv", tmp_path / "anchors.csv"
    network.write_text("a,b\nb,c\nc,d\na,d\na,c\n")
    anchors.write_text("a,a\nb,b\n")
    inputs = Inputs(network, network, anchors)
    if kept:
        match_to_run(inputs, tmp_path / "run", Config())
    else:
        match_in_memory(inputs, Config())
    assert seen == [{1}]
    assert blas_threads() == {2}
