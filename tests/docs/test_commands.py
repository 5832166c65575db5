"""The commands of the documents parse, and what they call exists; test_guide.py and test_first_hour.py run them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest
import typer
from command import kedge
from page_blocks import blocks

from kedge.cli import COMMANDS, app

ROOT: Final = Path(__file__).parents[2]
DOCUMENTS: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"),
)
GROUP: Final = typer.main.get_command(app)


def _lines(text: str) -> list[str]:
    """The commands in indented lines and in blocks: each is whole."""
    return re.findall(r"^(?: {4})?(kedge [a-z].+)$", "\n".join(_code(text)), re.MULTILINE)


def _code(text: str) -> list[str]:
    """Indented lines, and the blocks for a shell."""
    return re.findall(r"^ {4}.+$", text, re.MULTILINE) + [b.text for b in blocks(text) if b.language == "sh"]


def _mentions(text: str) -> list[str]:
    """The commands within sentences, which may go on in the next line and need not be whole."""
    return [" ".join(found.split()) for found in re.findall(r"`(kedge \w+ [^`]+)`", text)]


def _words(line: str) -> list[str]:
    """The words of a command; optional ones in brackets are given, and of alternatives the first."""
    line = line.replace(" ... ", " left.csv right.csv --anchors known.csv -o run ")
    return shlex.split(re.sub(r"\[([^\]]*)\]", r"\1", line).partition("|")[0].partition(" > ")[0], comments=True)[1:]


TEXTS: Final = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in DOCUMENTS}
LINES: Final = sorted({(name, line) for name, text in TEXTS.items() for line in _lines(text)})
MENTIONS: Final = sorted({(name, line) for name, text in TEXTS.items() for line in _mentions(text)})


@pytest.mark.parametrize(("document", "line"), LINES)
def test_a_command_parses(document: str, line: str) -> None:
    name, *rest = _words(line)
    GROUP.commands[name].make_context(name, rest)


@pytest.mark.parametrize(("document", "line"), MENTIONS)
def test_the_options_of_a_command_exist(document: str, line: str) -> None:
    name, *rest = _words(line)
    known = {option for parameter in GROUP.commands[name].params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known | {"--help"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_make_targets_exist(path: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"(?:`|^ {4})make ([\w-]+)", path.read_text("utf-8"), re.MULTILINE)
    assert set(named) <= set(targets)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_options_of_benchmarks_exist(path: Path) -> None:
    for script, rest in re.findall(r"python (benchmarks/\w+\.py)([^`]*)`", path.read_text("utf-8")):
        source = (ROOT / script).read_text("utf-8")
        own = rest.partition(" -- ")[0]  # what follows is given on to `kedge match`
        missing = [option for option in re.findall(r"(?<=\s)--[\w-]+", own) if f'"{option}"' not in source]
        # `--set` of a benchmark is kedge's.
        assert not set(missing) - {"--set"}, script


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    assert kedge(name, "--help").stdout
