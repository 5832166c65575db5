"""A place for compiled functions, also where kedge may write nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kedge.context import compiled


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_sources_are_the_first_choice_and_the_users_cache_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    monkeypatch.setattr(compiled, "_can_write", lambda place: True)
    assert compiled.compile_cache() == Path(compiled.__file__).parents[1]
    monkeypatch.setattr(compiled, "_can_write", lambda place: place == Path("/somewhere"))
    assert compiled.compile_cache() == Path("/somewhere")
    compiled.ensure_compile_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ, "numba finds it"


def test_without_any_place_a_temporary_directory_is_made_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list = []
    monkeypatch.setattr(compiled.atexit, "register", lambda call, *words, **more: at_exit.append((call, words, more)))
    monkeypatch.setattr(compiled, "_can_write", lambda place: False)
    compiled.ensure_compile_cache()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert compiled.compile_cache() is None, "nothing is saved for good"
    compiled.ensure_compile_cache()
    assert len(at_exit) == 1, "one directory per process and for its workers"
    (call, words, more) = at_exit[0]
    call(*words, **more)
    assert not folder.exists()


def test_what_cannot_be_written_is_recognised(tmp_path: Path) -> None:
    assert compiled._can_write(tmp_path / "new" / "deep")
    assert not compiled._can_write(Path("/proc/new"))
