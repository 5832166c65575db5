"""The public names, what importing them costs, and their doctests."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kedge

MODULES = sorted(path.stem for path in (Path(kedge.__file__).parent / "api").glob("*.py") if path.stem != "__init__")


def test_the_public_names_are_there_and_no_others() -> None:
    for name in kedge.__all__:
        assert getattr(kedge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kedge.nonsense
    assert set(dir(kedge)) == set(kedge.__all__)


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_importing_kedge_costs_nothing() -> None:
    _run("import sys, kedge; assert not {'numpy', 'torch', 'pyarrow'} & set(sys.modules)")


def test_no_library_is_loaded_that_was_not_asked_for() -> None:
    code = "import sys, kedge; kedge.match; kedge.embed; seen = {'torch', 'pandas', 'polars', 'sklearn', 'matplotlib'}"
    _run(f"{code}; assert not seen & set(sys.modules), seen & set(sys.modules)")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(f"kedge.api.{name}"))
    assert failed == 0


def test_no_name_is_hidden_by_a_room_of_the_package() -> None:
    rooms = {path.name for path in Path(kedge.__file__).parent.iterdir() if (path / "__init__.py").exists()}
    assert not rooms & set(kedge.__all__)
