"""The notebooks and scripts of examples/ run from an empty directory, and notebooks are kept without outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from command import ENVIRONMENT, kedge

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"
NOTEBOOKS: Final = sorted(EXAMPLES.glob("*.ipynb"))
SCRIPTS: Final = sorted(path for path in EXAMPLES.iterdir() if path.suffix in {".py", ".sh"})
# As a reader has it: `kedge` on the path, no window for charts.
_READER: Final = {
    **ENVIRONMENT,
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "MPLBACKEND": "agg",
    "PYTHONWARNINGS": "ignore",
}


def _read(path: Path) -> Any:
    nbformat = pytest.importorskip("nbformat")
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for name, value in _READER.items():
        monkeypatch.setenv(name, value)
    notebook = _read(path)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert not [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error" or "Traceback" in output.get("text", "")
    ]
    assert any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in _read(path).cells if cell.cell_type == "code"]
    assert cells
    assert not [cell for cell in cells if cell.outputs or cell.execution_count is not None]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs(path: Path, tmp_path: Path) -> None:
    kedge("demo", "--files", tmp_path / "data", "-q")
    words = [sys.executable, path, "data"] if path.suffix == ".py" else [shutil.which("bash"), path, "data", "run"]
    done = subprocess.run(words, cwd=tmp_path, env=_READER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {"match_frames.py": "matches, ", "match_graphs.py": ": ", "nightly.sh": ""}[path.name]
    assert made in done.stdout
    if path.suffix == ".sh":
        assert (tmp_path / "run.parquet").exists()


def test_every_example_is_listed() -> None:
    text = (EXAMPLES / "README.md").read_text("utf-8")
    assert [path.name for path in (*NOTEBOOKS, *SCRIPTS) if f"({path.name})" not in text] == []
