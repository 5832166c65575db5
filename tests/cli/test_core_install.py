"""The wheel without extras, next to the libraries that the core needs and no others: enough for the main job."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from kedge.context.extras import EXTRAS

pytestmark = pytest.mark.timeout(1800)  # compiling takes half a minute of CPU, which a busy machine shares out
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Not this process's: a path to the sources would hide what the wheel lacks.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
# Several commands in one process, since each would import the same again.
COMMANDS = """
import json, sys
from kedge.cli import app
from typer.testing import CliRunner
done = [CliRunner().invoke(app, words) for words in json.load(sys.stdin)]
print(json.dumps([(one.exit_code, one.stdout, one.stderr) for one in done]))
"""
INSTALLED = "from importlib.metadata import distributions as d; print(*(one.metadata['Name'] for one in d()))"


def run(*words: object, code: int = 0, given: str | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, env=ENVIRONMENT, timeout=900, input=given
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def needed_by_core() -> list[str]:
    """The libraries that `pip install kedge` installs, by what they ask for themselves."""
    spec = importlib.util.spec_from_file_location("lock", ROOT / ".ci" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    lock = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lock)
    return list(lock.closure(PROJECT["dependencies"], PROJECT["optional-dependencies"]))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the core alone: its libraries are links, kedge itself is its wheel."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for library in needed_by_core():
        files = metadata.files(library) or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(metadata.distribution(library).locate_file(top))))
    install = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "--disable-pip-version-check")
    try:
        subprocess.run(
            [*map(str, install), "install", "--quiet", "--no-compile", "--no-deps", str(ROOT)],
            check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=900, cwd=folder,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        if "No matching distribution" in error.stderr or "Connection" in error.stderr:
            pytest.skip("what builds the wheel cannot be reached from here")
        raise AssertionError(error.stderr) from None
    return folder / "bin"


def test_the_core_runs_the_main_job_and_names_what_it_lacks(bare: Path, tmp_path: Path) -> None:
    data, out, small, rows = tmp_path / "data", tmp_path / "run", tmp_path / "small", tmp_path / "rows.json"

    def several(*commands: tuple[object, ...]) -> Any:
        return json.loads(
            run(bare / "python", "-c", COMMANDS, given=json.dumps([list(map(str, words)) for words in commands])).stdout
        )

    installed = run(bare / "python", "-c", INSTALLED).stdout.lower().split()
    assert {"kedge", "numpy", "numba", "pyarrow"} <= set(installed)
    lacking = [library for libraries in EXTRAS.values() for library in libraries]
    assert not {*lacking, "sympy"} & set(installed)
    run(bare / "kedge", "demo", "-o", out, "-q")
    networks = (data / "left.tsv", data / "right.tsv", "--anchors", data / "train.tsv")
    profiles = [f"--{side}-profiles={data / side}.profiles.csv" for side in ("left", "right")]
    done = several(
        ("synth", "-o", data, "--nodes", 100, "--profiles", "easy", "-q"),
        ("check", *networks, "-q"),
        ("match", *networks, "-o", small, "-q"),
        ("export", out, "-o", rows),
        ("evaluate", small, "--test", data / "test.tsv"),
        ("report", out),
        ("decide", out, "--threshold", 0.5),
        ("config",),
        ("doctor", "--json"),
    )
    assert [code for code, _, _ in done] == [0] * len(done), done
    assert not any(json.loads(done[-1][1])["extras"].values())
    best = next(row for row in json.loads(rows.read_text()) if row["decision"] == "match")
    refused = {
        ("match", *networks, "-o", tmp_path / "m", "--method", "mgcn"): "mgcn",
        ("embed", data / "left.tsv", "-o", tmp_path / "v.npz"): "mgcn",
        ("compare", *networks, "-m", "kedge,mgcn"): "mgcn",
        ("compare", *networks, "-m", "kedge", "--plot", tmp_path / "p.png"): "plots",
        ("reproduce", "sparsity", "--quick", "-o", tmp_path / "r"): "mgcn",
        ("review", out): "review",
        ("export", out, "-o", tmp_path / "m.xlsx"): "xlsx",
        ("match", *networks, *profiles, "-o", tmp_path / "m", "-q"): "profiles",
    }
    explained, *failed = several(("explain", out, best["left"], best["right"]), *refused)
    assert explained[0] == 0
    assert "total" in explained[1]
    for (code, _, error), extra in zip(failed, refused.values(), strict=True):
        assert code == 2
        assert error.endswith(f"install with: pip install 'kedge[{extra}]'\n")
        assert error.count("\n") == 1
    assert not (tmp_path / "m").exists()
