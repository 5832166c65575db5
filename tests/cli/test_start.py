"""The process around a command: closed or full streams, terminals of every kind, no home, nowhere to write."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command import ENVIRONMENT, process


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`kedge` in a shell of its own."""
    words = ["sh", "-c", line.replace("kedge", " ".join(process()), 1)]
    return subprocess.run(words, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, timeout=120)


@pytest.mark.parametrize(
    ("line", "code", "err"),
    [
        ("kedge config >&-", 0, ""),
        ("kedge config <&- >&- 2>&-", 0, ""),
        ("kedge match 2>&-", 2, ""),
        ("kedge match 2>/dev/full", 2, ""),
        ("kedge config >/dev/full", 2, "kedge: No space left on device\n"),
        ("kedge --help >/dev/full", 2, "kedge: cannot write the output: No space left on device\n"),
    ],
)
def test_streams_that_take_nothing(line: str, code: int, err: str) -> None:
    done = shell(line)
    assert (done.returncode, done.stderr) == (code, err)


def test_a_table_that_is_not_read_to_its_end_is_no_error() -> None:
    made = subprocess.Popen(
        process("compare", "--list"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert made.stdout is not None
    made.stdout.close()
    assert (made.communicate(timeout=120)[1], made.returncode) == (b"", 0)


def test_work_goes_on_where_nothing_takes_its_notes(tmp_path: Path) -> None:
    assert shell(f"kedge synth -o {tmp_path / 'made'} --nodes 50 2>/dev/full").returncode == 0
    assert (tmp_path / "made" / "synth.json").exists(), "the file that is written last"


def test_a_terminal_without_colours_unicode_width_or_home_shows_everything() -> None:
    plain = {"TERM": "dumb", "COLUMNS": "1", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "HOME": "/nonexistent"}
    done = shell("kedge doctor", **plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert "extra cluster" in done.stdout
    assert "\x1b" not in done.stdout


def test_bytes_that_are_no_text_are_refused_in_a_real_process(tmp_path: Path) -> None:
    words = [word.encode() for word in process("explain", tmp_path)]
    done = subprocess.run([*words, b"\xff", b"b"], capture_output=True, env=ENVIRONMENT, timeout=120)
    assert done.returncode == 2
    assert done.stderr == rb"kedge: '\udcff' on the command line is not UTF-8; " + (
        b"rename the file, or write the id in UTF-8" + os.linesep.encode()
    )
