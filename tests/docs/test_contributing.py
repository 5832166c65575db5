"""CONTRIBUTING.md is true: its rooms, files and registries exist, and its examples run."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import typer
from typer.testing import CliRunner

from kedge import synthetic
from kedge.cli import COMMANDS
from kedge.config import Config
from kedge.evaluation.metrics import ranking
from kedge.methods import METHODS, Method, find_method
from kedge.pipeline import MemoryRun, solve
from kedge.types import Problem

ROOT: Final = Path(__file__).parents[2]
TEXT: Final = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ORDER_TEST: Final = (ROOT / "tests" / "test_import_order.py").read_text("utf-8")


def _section(title: str) -> str:
    return TEXT.partition(f"\n{title}\n")[2].partition("\n#")[0]


def _rows(section: str) -> list[list[str]]:
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def _example(section: str, place: int = 0) -> str:
    return textwrap.dedent(re.findall(r"```python\n(.*?)```", section, re.DOTALL)[place])


def _module(name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # the brackets: no file for coverage to look for
    return module


KINDS: Final = _rows(_section("## How to add something"))


def test_the_rooms_are_those_of_the_import_order() -> None:
    order = re.findall(r'^    "(\w+)",$', ORDER_TEST, re.MULTILINE)
    assert [room for room, _ in _rows(_section("## The rooms"))] == order


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", TEXT))))
def test_every_file_it_names_exists(place: str) -> None:
    if not re.search(r"NAME|ROOM|FILE|NNNN", place):
        assert (ROOT / place).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(kedge(?:\.\w+){2,})`", TEXT))))
def test_everything_of_kedge_that_it_names_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert hasattr(import_module(module), attribute)


def _names(registry: Mapping[str, Any] | Iterable[Any]) -> list[str]:
    return list(registry) if isinstance(registry, Mapping) else [entry.name for entry in registry]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[0])
def test_every_entry_of_a_registry_has_its_file_and_its_row(kind: list[str]) -> None:
    _, file, registry, document = kind
    module, _, attribute = registry.rpartition(".")
    rows = [line for line in (ROOT / document).read_text("utf-8").splitlines() if line.startswith("|")]
    for name in _names(getattr(import_module(module), attribute)):
        assert (ROOT / file.replace("NAME", name.replace("-", "_"))).exists(), name
        first = [row.split("|")[1] for row in rows]
        listed = any(name in re.findall(r"`(?:kedge )?([\w-]+)`", cell) or name == cell.strip() for cell in first)
        assert listed, f"{document} has no row for {name}"


def test_every_kind_has_its_steps() -> None:
    for kind, *_ in KINDS:
        article = "An" if kind[0] in "aeiou" else "A"
        assert "\n1. " in f"\n{_section(f'### {article} {kind}')}", kind


def test_the_example_of_a_method_runs_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = _section("### A method")
    record = eval(_example(steps, 1), {"Method": Method})
    module = f"kedge.methods.{record.name.replace('-', '_')}"
    monkeypatch.setitem(sys.modules, module, _module(module, _example(steps)))
    monkeypatch.setitem(METHODS, record.name, record)
    pair = synthetic.planted(150, 150, 150, 700, 700, overlap=0.9, seed=1)
    train, test = synthetic.split(pair.anchors, 0.5, seed=0)
    config = Config(method=record.name)
    problem = Problem(pair.left, pair.right, train)
    assert find_method(record.name) is record
    outcome = solve(problem, config, MemoryRun())
    assert ranking(outcome.alignment, test)["hits10"] > 0.4, "chance is 0.07"
    assert not set(train[:, 0]) & set(outcome.matches.left.tolist()), "anchored accounts are taken"


def test_the_example_of_a_command_runs(tmp_path: Path) -> None:
    module = _module("kedge.cli.ids", _example(_section("### A command")))
    command = "ids"
    assert command not in COMMANDS
    app = typer.Typer()
    app.command(command)(getattr(module, command))
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    done = CliRunner().invoke(app, [str(tmp_path / "edges.csv")])
    assert (done.exit_code, sorted(done.stdout.split())) == (0, ["a", "b", "c"])
    assert CliRunner().invoke(app, [str(tmp_path / "absent.csv")]).exit_code == 2


def test_decision_records_are_numbered_without_a_gap() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert numbers == list(range(1, len(numbers) + 1))


DOCUMENTS: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"),
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_document_links_to_or_names_in_the_source_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    # Pages under reference/ are made from the code when the site is built, which checks links to them.
    missing = [link for link in links if "reference/" not in link and not (path.parent / link).exists()]
    for place in re.findall(r"`((?:\w+/)+\w+\.(?:py|toml|js|md))`", text):
        if "NAME" not in place and "ROOM" not in place and "NNNN" not in place:
            roots = (ROOT, ROOT / "src" / "kedge", ROOT / "tests")
            missing += [] if any((root / place).exists() for root in roots) else [place]
    missing += [name for name in re.findall(r"python (benchmarks/\w+\.py)", text) if not (ROOT / name).exists()]
    assert missing == []
