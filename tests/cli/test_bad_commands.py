"""Command lines that cannot be meant: one line, exit code 2, nothing written."""

from __future__ import annotations

from pathlib import Path

import command_lines
import pytest


@pytest.mark.parametrize("line", command_lines.BAD)
def test_a_command_that_cannot_be_meant_is_one_line(line: str, pair: Path, run: Path, tmp_path: Path) -> None:
    result = command_lines.run(line, command_lines.places(tmp_path, pair, run))
    assert command_lines.is_one_line(result), result
    assert [path.name for path in tmp_path.iterdir()] == ["dir"]


def test_a_usage_error_names_the_help_that_has_the_answer() -> None:
    code, _, err = command_lines.run("match --nonsense", {})
    assert (code, err.partition(";")[2]) == (2, " see `kedge match --help`\n")


def test_without_a_word_the_help_is_printed() -> None:
    code, out, err = command_lines.run("", {})
    assert (code, err) == (0, "")
    assert "demo" in out
