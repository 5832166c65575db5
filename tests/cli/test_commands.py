"""The command line as a whole: every command registered, documented and quick to start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from command import ENVIRONMENT, process

from kedge.cli import COMMANDS, app

ROOT = Path(__file__).parents[2]
SHARED = {"__init__", "help_text", "options", "progress", "show", "start"}  # files of the room that are no command


def test_every_file_of_a_command_is_registered_under_its_name() -> None:
    files = {path.stem for path in (ROOT / "src" / "kedge" / "cli").glob("*.py")} - SHARED
    assert files == set(COMMANDS)
    for name, command in COMMANDS.items():
        assert (command.__name__, command.__module__) == (name, f"kedge.cli.{name}")


def test_every_command_has_a_row_in_the_readme_and_no_other_has() -> None:
    rows = re.findall(r"^\| `kedge (\w+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: Any) -> None:
    command = typer.main.get_command(app).commands[name]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_light_commands_stay_light() -> None:
    code = (
        "import sys\nfrom kedge.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "assert not {'torch', 'numba', 'networkit', 'faiss'} & set(sys.modules), 'a heavy import'"
    )
    for words in (["--help"], ["check", "--help"], ["config"], ["doctor"]):
        subprocess.run([sys.executable, "-c", code, *words], check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)


def test_the_default_method_does_without_torch() -> None:
    code = "import sys, kedge.methods.kedge\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)


def test_check_synth_and_export_never_import_torch(pair: Any, run: Any, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom kedge.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    for words in (
        ["check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv"],
        ["synth", "-o", tmp_path / "s", "--nodes", 50],
        ["export", run, "-o", tmp_path / "m.csv"],
    ):
        command = [sys.executable, "-c", code, *[str(word) for word in words]]
        subprocess.run(command, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)


def test_help_loads_nothing_but_the_command_line() -> None:
    code = (
        "import sys\nfrom kedge.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('\\n', *sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    loaded = set(made.stdout.rsplit("\n", 2)[-2].split())
    own = {name for name in loaded if name.partition(".")[0] == "kedge" and not name.startswith("kedge.cli.")}
    assert own == {"kedge", "kedge.cli", "kedge.errors"}
    assert not loaded & {"numpy", "scipy", "pyarrow", "pydantic", "torch", "numba", "networkit", "faiss", "matplotlib"}


def test_help_costs_little_more_than_the_library_that_prints_it() -> None:
    """Compared with a process that only loads that library, so that a slow or busy machine does not matter.

    Measured: 1.25 times. `benchmarks/startup.py` prints seconds.
    """

    def cpu_seconds(words: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    resource = pytest.importorskip("resource")  # not on every system
    printing = [sys.executable, "-c", "import typer, typer.rich_utils"]
    # By turns, and the best of several: load comes and goes.
    spent = [(cpu_seconds(process("--help")), cpu_seconds(printing)) for _ in range(4)]
    assert min(ours for ours, _ in spent) < 2 * min(theirs for _, theirs in spent)
