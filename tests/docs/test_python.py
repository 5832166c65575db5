"""The Python of the documents runs, and every command and option of the command line has its counterpart there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, Final

import pytest
import typer

import kedge
from kedge.api import Run
from kedge.cli import COMMANDS, app

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "python.md").read_text("utf-8")
README: Final = (ROOT / "README.md").read_text("utf-8").partition("## In Python\n")[2].partition("\n## ")[0]
ROWS: Final = dict(re.findall(r"^\| `kedge ([\w-]+)` \| (.+) \|$", PAGE, re.MULTILINE))


def _blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", [PAGE, README], ids=["docs/python.md", "README.md"])
def test_every_block_runs(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in _blocks(text):
        exec(compile(block, "<block>", "exec"), names)
    assert len(names["run"].matches) > 80, "more than the known pairs"


def test_every_command_has_its_row() -> None:
    assert list(ROWS) == list(COMMANDS)


def _counterparts(row: str) -> list[Any]:
    """What the row of a command names: functions of kedge, and methods of a run."""
    found = []
    for place, name in re.findall(r"`(kedge|run)\.(\w+)", row):
        held = getattr(kedge if place == "kedge" else Run, name)
        found.append(held.fget if isinstance(held, property) else held)
    return found


# Options that are given in another way in Python.
SETTINGS: Final = set(  # settings={...}
    "columns left_columns right_columns anchor_columns skip_bad_rows max_input_memory max_memory engine address tls_ca "
    "tls_cert tls_key assignments".split()
)
SHOWN: Final = {"json", "quiet", "debug", "json_progress", "help"}  # results are objects, progress= shows it
OTHER: Final = {
    ("audit", "run"): "the object itself",
    ("check", "compare"): 'settings={"profiles.compare": ...}',
    ("check", "out"): "check(...).suspects is a table",
    ("check", "raw"): "the same",
    ("check", "force"): "the same",
    ("check", "file"): "config=",
    ("compare", "fields"): 'settings={"profiles.compare": ...}',
    ("compare", "file"): "config=",
    ("compare", "listed"): "kedge.list_methods()",
    ("decisions", "action"): "decisions.export(), decisions.verify()",
    ("decisions", "out"): "decisions.export(confirmed=)",
    ("decisions", "rejected"): "decisions.export(rejected=)",
    ("decisions", "head"): "decisions.verify(head)",
    ("decisions", "raw"): "decisions.export(raw=)",
    ("decisions", "force"): "decisions.export(force=)",
    ("demo", "files"): "kedge.example(folder)",
    ("embed", "file"): "config=",
    ("embed", "workers"): 'settings={"engine.workers": ...}',
    ("evaluate", "anchor_columns"): "columns=",
    ("explain", "plot"): "explain(...).save(path)",
    ("explain", "force"): "explain(...).save(path, force=True)",
    ("export", "out"): "path",
    ("export", "excel_safe"): "the default",
    ("match", "compare"): 'settings={"profiles.compare": ...}',
    ("match", "file"): "config=",
    ("match", "workers"): 'settings={"engine.workers": ...}',
    ("pseudonymise", "new_key"): "kedge.make_key(path)",
    ("pseudonymise", "map_file"): "map=",
    ("purge", "yes"): "nothing asks",
    ("reproduce", "listed"): "the docstring lists them",
    ("report", "out"): "path",
    ("review", "no_open"): "browser=False",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_its_argument(name: str) -> None:
    counterparts = _counterparts(ROWS[name])
    assert counterparts
    if name in ("config", "doctor", "decisions"):
        known: set[str] = set()
    else:
        known = {parameter for one in counterparts for parameter in inspect.signature(one).parameters}
    options = {parameter.name for parameter in typer.main.get_command(app).commands[name].params}
    if name == "config":
        options = set()  # a Config has every setting
    of_run = {"run"} if "`run." in ROWS[name] else set()
    missing = options - known - SETTINGS - SHOWN - of_run - {option for command, option in OTHER if command == name}
    assert not missing


def test_every_public_function_has_a_docstring_and_types() -> None:
    for name in kedge.__all__:
        held = getattr(kedge, name)
        if inspect.isfunction(held):
            signature = inspect.signature(held)
            assert held.__doc__, name
            assert signature.return_annotation is not inspect.Signature.empty, name
            assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values()), name
