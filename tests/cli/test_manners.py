"""What every command owes its user: help with names, completion, a question before what cannot be undone."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import ENVIRONMENT, kedge, process

from kedge.cli import COMMANDS
from kedge.cli.help_text import completing, method_names
from kedge.methods import METHODS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_flags_have_no_type_in_the_help(command: str) -> None:
    shown = kedge(*([command] if command else []), "--help").stdout
    assert "--help" in shown
    assert "<bool>" not in shown
    assert "BOOLEAN" not in shown


def test_the_help_names_every_method() -> None:
    assert sorted(method_names()) == sorted(METHODS)
    for command in ("match", "compare"):
        shown = subprocess.run(
            process(command, "--help"),
            capture_output=True,
            text=True,
            check=True,
            env={**ENVIRONMENT, "COLUMNS": "200"},
        ).stdout
        words = " ".join(shown.replace("│", " ").split())
        assert [name for name in METHODS if name not in words] == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("kedge match --method perc", "percolation"),
        ("kedge compare -m kedge,perc", "kedge,percolation"),
        ("kedge match --preset pa", "paper"),
        ("kedge pseud", "pseudonymise"),
        ("kedge match --skip-b", "--skip-bad-rows"),
    ],
)
def test_the_shell_completes_commands_options_and_methods(line: str, wanted: str) -> None:
    words = {"_KEDGE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    program = "import sys; sys.argv[0] = 'kedge'; from kedge.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**ENVIRONMENT, **words}, capture_output=True, text=True, check=False
    )
    assert wanted in done.stdout.split(), done.stderr


def test_a_list_of_names_is_completed_at_its_end() -> None:
    complete = completing(["one", "only", "two"])
    assert complete("two,on") == ["two,one", "two,only"]
    assert complete("x") == []


def test_purging_without_a_terminal_needs_yes(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    before = sorted((path, path.stat().st_mtime_ns) for path in copy.rglob("*"))
    result = kedge("purge", copy, "a000003", code=2)
    assert "cannot be undone" in result.stderr
    assert "give --yes" in result.stderr
    assert sorted((path, path.stat().st_mtime_ns) for path in copy.rglob("*")) == before


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_purging_on_a_terminal_asks(answer: str, code: int, run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    name = (copy / "anchors.tsv").read_text().split()[0] if (copy / "anchors.tsv").exists() else "a000003"
    mine, theirs = pty.openpty()
    work = subprocess.Popen(
        process("purge", copy, name, "--side", "left"),
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    os.write(mine, f"{answer}\n".encode())
    out, _ = work.communicate(timeout=120)
    shown = os.read(mine, 1 << 16).decode()
    os.close(mine)
    os.close(theirs)
    assert "for good? This cannot be undone" in shown
    assert work.returncode == code, shown
    assert ("forgotten on the left" in out.decode()) == (code == 0)


def test_a_comparison_is_drawn_into_several_files(pair: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = (pair / "left.tsv", pair / "right.tsv", "-a", pair / "train.tsv")
    pictures = [tmp_path / "a.svg", tmp_path / "b.png"]
    kedge(
        "compare", *files, "-m", "common-neighbours", "--seeds", 1, "-q", "--plot", pictures[0], "--plot", pictures[1]
    )
    assert pictures[0].read_bytes().lstrip().startswith(b"<?xml")
    assert pictures[1].read_bytes().startswith(b"\x89PNG")
