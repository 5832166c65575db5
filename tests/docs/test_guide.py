"""The pages of the guide: every block runs, or states why it does not, and prints what the page has."""

from __future__ import annotations

import importlib.util
import shutil
import tomllib
from pathlib import Path
from typing import Final

import pytest
from page_blocks import Block, blocks, commands, compare, run_page

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
GUIDE: Final = sorted(
    path
    for folder in (DOCS, DOCS / "start", DOCS / "guide")
    for path in folder.glob("*.md")
    if folder != DOCS or path.stem in {"index", "concepts", "compares", "responsible-use", "paper"}
)
QUICK: Final = DOCS / "start" / "quick-start.md"


@pytest.fixture(scope="module")
def matched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has after the quick start, which runs from an empty directory: the example's files and two runs."""
    folder = tmp_path_factory.mktemp("reader")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_page(QUICK.read_text("utf-8"))
    return folder


@pytest.mark.parametrize("page", [path for path in GUIDE if path != QUICK], ids=lambda path: path.stem)
def test_the_blocks_of_a_page_run(page: Path, matched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(matched, tmp_path / "reader")
    monkeypatch.chdir(tmp_path / "reader")
    run_page(page.read_text("utf-8").replace("kedge demo --files data\n", "kedge demo --files data --force\n"))


def test_the_quick_start_leaves_two_runs_and_a_crosswalk(matched: Path) -> None:
    assert {path.name for path in matched.iterdir()} == {"data", "run", "better", "crosswalk.csv"}
    assert (matched / "run" / "report.html").exists()


@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.stem)
def test_every_block_runs_or_states_why_not(page: Path) -> None:
    for block in blocks(page.read_text("utf-8")):
        assert block.language in {"sh", "python"} or block.note == "printed", block
        assert not block.note or block.reason or block.note == "printed", block


def test_blocks_are_found_and_what_they_print_is_compared() -> None:
    page = "Text\n\n```sh\nkedge doctor # all\n```\n\n<!-- printed -->\n```text\n10 rows\n```\n"
    page += "<!-- not run here: no -->\n```sh\nx\n```\n"
    first, printed, last = blocks(page)
    assert list(commands(first)) == ["kedge doctor"]
    assert printed == Block("text", "10 rows\n", "printed")
    assert last.reason == "no"
    compare("10 rows\n", " 10 rows, all of them\n")
    with pytest.raises(AssertionError, match="not printed"):
        compare("10 rows\n", "ten rows\n")
    with pytest.raises(AssertionError, match="is '20 rows' now"):
        compare("10 rows\n", "20 rows\n")


def test_every_table_of_measurements_names_its_command_and_its_file() -> None:
    compared = "".join(path.read_text("utf-8") for path in (ROOT / "tests" / "docs").glob("test_*.py"))
    printed = tomllib.loads((DOCS / "results" / "printed.toml").read_text("utf-8"))
    tables = printed["table"]
    kept = {one["results"] for one in tables if "results" in one} | {one["name"] for one in printed["file"]}
    assert kept == {path.name for path in (DOCS / "results").glob("*.json")}
    for one in tables:
        page = one["page"].partition("#")[0]
        assert (DOCS / page).exists()
        script = one["command"].split()[1]
        if script.startswith("benchmarks/"):
            assert (ROOT / script).exists()
        if "results" in one:
            assert "made by benchmarks/" in (DOCS / page).read_text("utf-8"), page
            assert page in compared, page
    made = {path.name for path in DOCS.glob("*.md") if "<!-- begin: made by" in path.read_text("utf-8")}
    assert made <= {one["page"].partition("#")[0] for one in tables if "results" in one}


def test_the_pictures_are_what_the_script_draws() -> None:
    spec = importlib.util.spec_from_file_location("draw_pictures", DOCS / "draw_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    drawn = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawn)
    made = {f"{draw.__name__}.svg": draw() for draw in drawn.DRAWN}
    assert made == {path.name: path.read_text("utf-8") for path in (DOCS / "pictures").iterdir()}
