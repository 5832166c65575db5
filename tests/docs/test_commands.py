"""The commands of the documents: the README's run, all others parse, and what they call exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pyarrow.csv
import pyarrow.parquet
import pytest
import typer
from command import kedge, plant

from kedge.cli import COMMANDS, app

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS: Final = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
GROUP: Final = typer.main.get_command(app)


def _lines(text: str) -> list[str]:
    """The commands in indented lines: each is whole."""
    return re.findall(r"^ {4}(kedge .+)$", text, re.MULTILINE)


def _mentions(text: str) -> list[str]:
    """The commands within sentences, which may go on in the next line and need not be whole."""
    return [" ".join(found.split()) for found in re.findall(r"`(kedge \w+ [^`]+)`", text)]


def _words(line: str) -> list[str]:
    """The words of a command; optional ones in brackets are given, and of alternatives the first."""
    line = line.replace(" ... ", " left.csv right.csv --anchors known.csv -o run ")
    return shlex.split(re.sub(r"\[([^\]]*)\]", r"\1", line).partition("|")[0], comments=True)[1:]


TEXTS: Final = {path.name: path.read_text("utf-8") for path in DOCUMENTS}
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


def _block(title: str) -> list[str]:
    section = README.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^ {4}(kedge .+)$", section, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted pair under the README's file names."""
    folder = tmp_path_factory.mktemp("readme")
    made = plant(folder / "made")
    for name, file in {"left": "left.csv", "right": "right.csv", "train": "known.csv", "test": "held-out.csv"}.items():
        (folder / file).write_text((made / f"{name}.tsv").read_text().replace("\t", ","))
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "right.csv"), folder / "right.parquet")
    (folder / "network.tsv").write_text((made / "left.tsv").read_text())
    return folder


def test_the_first_five_minutes_of_the_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    left, right = (folder / "known.csv").read_text().splitlines()[1].split(",")
    for line in _block("The first five minutes"):
        name, *rest = _words(line)
        if name != "review":  # it serves until it is interrupted; tests/review runs it
            kedge(name, *({"alice_fb": left, "alice_tw": right}.get(word, word) for word in rest))
    assert (folder / "run" / "report.html").exists()
    rows = (folder / "crosswalk.csv").read_text().splitlines()
    assert rows[0].replace('"', "") == "left,right,decision,probability,counterpart,margin,source"
    assert len(rows) > len((folder / "known.csv").read_text().splitlines()) > 10


def test_synth_of_the_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    planted, cut = (line for line in _mentions(README) if line.startswith("kedge synth "))
    kedge(*_words(planted), "--nodes", 150)
    kedge(*_words(cut.replace("-o data", "-o cut")))
    assert all((folder / out / "left.tsv").exists() for out in ("data", "cut"))


def test_compare_and_reproduce_of_the_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    compare, listed, reproduce = (_words(line) for line in _block("Comparing methods and reproducing the paper"))
    # As printed, with two quick methods and one seed instead of five with MGCN.
    quick = ["common-neighbours,percolation" if word == "kedge,mgcn,percolation" else word for word in compare]
    assert "percolation" in kedge(*quick, "--seeds", 1, "--workers", 1).stdout
    assert (folder / "it.png").stat().st_size > 0
    assert "mgcn" in kedge(*listed).stdout
    assert reproduce[1] in kedge("reproduce", "--list").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    assert kedge(name, "--help").stdout
