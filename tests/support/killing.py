"""A kill at any change of the disk, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kedge.store.decisions import DecisionLog


class Killed(BaseException):
    """As a kill: nothing after it runs."""


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let the n-th change of the disk, and every one after it, not happen."""
    count = 0

    def counted(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **more: Any) -> Any:
            nonlocal count
            count += 1
            if count >= step:
                raise Killed
            return whole(*words, **more)

        return call

    for owner, names in ((os, ("fsync", "rmdir")), (Path, ("replace", "rename", "unlink"))):
        for name in names:
            monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    monkeypatch.setattr(DecisionLog, "erase", counted(DecisionLog.erase))
