"""A small core: what is installed on request is imported on request, and its absence is one line."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command import ENVIRONMENT

from kedge.context import extras
from kedge.context.extras import EXTRAS, need_extra
from kedge.errors import KedgeError
from kedge.methods import METHODS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
CORE = [name for name, method in METHODS.items() if not method.extra]
# Fails on the import of any library that the core does not install.
WITHOUT_EXTRAS = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(library for libraries in EXTRAS.values() for library in libraries)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[ ]", requirement)[0] for requirement in requirements}


def test_extras_are_those_of_the_project_file() -> None:
    optional = PROJECT["optional-dependencies"]
    # What else an extra names are lower bounds of libraries that its own ones need.
    bounds = {"fonttools", "h11", "jinja2", "pillow", "tornado", "urllib3"}
    named = {name: _names(optional[name]) - bounds for name in EXTRAS}
    assert named == {name: set(held) for name, held in EXTRAS.items()}
    assert set(optional) == {*EXTRAS, "all", "dev", "docs"}
    core = _names(PROJECT["dependencies"])
    assert not core & {library for libraries in EXTRAS.values() for library in libraries}


def test_a_missing_extra_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for extra in EXTRAS:
        need_extra(extra, "this")
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(
        KedgeError, match=r"^this needs torch and networkit; install with: pip install 'kedge\[mgcn\]'$"
    ):
        need_extra("mgcn", "this")
    with pytest.raises(KedgeError, match="the method mgcn needs torch"):
        METHODS["mgcn"].check_installed()
    METHODS["kedge"].check_installed()


def test_methods_without_an_extra_run_without_its_libraries() -> None:
    code = f"""{WITHOUT_EXTRAS}
from kedge.config import resolve
from kedge.methods import METHODS
from kedge.synthetic import planted, split
from kedge.types import Problem
made = planted(60, 60, 45, 250, 250, 0.7, 0)
problem = Problem(made.left, made.right, split(made.anchors, 0.4, 0)[0])
for name in {CORE}:
    METHODS[name].align(problem, resolve(overrides={{"method": name}}))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)
