"""The wheel without extras, in a bare virtual environment: small, and enough for the main job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kedge.context.extras import EXTRAS

pytestmark = pytest.mark.timeout(1800)  # it takes 100 s of CPU, which a busy machine shares out
ROOT = Path(__file__).parents[2]
# Not this process's: a path to the sources would hide what the wheel lacks.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=ENVIRONMENT, timeout=900)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with the core alone."""
    folder = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", folder / "venv")
    pip = (folder / "venv" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
    try:
        subprocess.run(
            [*map(str, pip), "-c", str(ROOT / "constraints.txt"), str(ROOT)],
            check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=900, cwd=folder,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        if "No matching distribution" in error.stderr or "Connection" in error.stderr:
            pytest.skip("no package registry can be reached from here")
        raise AssertionError(error.stderr) from None
    return folder / "venv" / "bin"


def test_the_core_runs_the_main_job_and_names_what_it_lacks(bare: Path, tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "run"
    kedge = bare / "kedge"
    installed = run(bare / "pip", "list", "--format=freeze").stdout
    lacking = [library for libraries in EXTRAS.values() for library in libraries]
    assert not [library for library in (*lacking, "sympy") if f"\n{library}==" in f"\n{installed}"]
    run(kedge, "demo", "-o", out, "-q")
    run(kedge, "synth", "-o", data, "--nodes", 100, "-q")
    networks = (data / "left.tsv", data / "right.tsv", "--anchors", data / "train.tsv")
    run(kedge, "check", *networks, "-q")
    run(kedge, "match", *networks, "-o", tmp_path / "small", "-q")
    rows = tmp_path / "rows.json"
    run(kedge, "export", out, "-o", rows)
    best = max(json.loads(rows.read_text()), key=lambda row: row["probability"])
    assert "total" in run(kedge, "explain", out, best["left"], best["right"]).stdout
    run(kedge, "evaluate", tmp_path / "small", "--test", data / "test.tsv")
    run(kedge, "report", out)
    run(kedge, "config")
    assert not any(json.loads(run(kedge, "doctor", "--json").stdout)["extras"].values())
    for words, extra in (
        (("match", *networks, "-o", tmp_path / "m", "--method", "mgcn"), "mgcn"),
        (("embed", data / "left.tsv", "-o", tmp_path / "v.npz"), "mgcn"),
        (("compare", *networks, "-m", "kedge,mgcn"), "mgcn"),
        (("compare", *networks, "-m", "kedge", "--plot", tmp_path / "p.png"), "plots"),
        (("reproduce", "sparsity", "--quick", "-o", tmp_path / "r"), "mgcn"),
        (("review", out), "review"),
    ):
        failed = run(kedge, *words, code=2).stderr
        assert failed.endswith(f"install with: pip install 'kedge[{extra}]'\n")
        assert failed.count("\n") == 1
    assert not (tmp_path / "m").exists()
