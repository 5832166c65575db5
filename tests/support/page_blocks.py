"""The code blocks of a page, run as a reader would run them: in order, in one directory."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from command import kedge

_FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*?) -->\n)?(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Block(NamedTuple):
    """A block: its language, its text, and what a comment right before it states."""

    language: str
    text: str
    note: str

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        return self.note.removeprefix("not run here: ") if self.note.startswith("not run here: ") else ""


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in Markdown."""
    return [Block(found["language"], found["body"], found["note"] or "") for found in _FENCE.finditer(page)]


def commands(block: Block) -> Iterator[str]:
    """The commands of a shell block, without comments."""
    for line in block.text.splitlines():
        bare = line.partition(" #")[0].strip()
        if bare and not bare.startswith("#"):
            yield bare


def run_page(page: str) -> None:
    """Run the blocks of a page in the present directory; one marked as printed must be what the one before prints."""
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for block in blocks(page):
        if block.reason:
            continue
        if block.language == "sh":
            printed = "".join(run_line(line) for line in commands(block))
        elif block.language == "python":
            exec(compile(block.text, "<a block of the page>", "exec"), names)
        elif block.note == "printed":
            compare(block.text, printed)


def run_line(line: str) -> str:
    """One command, and what it prints. kedge is called in this process: starting it costs more than most commands."""
    words = shlex.split(line)
    if words[0] != "kedge" or {"|", "&&", ";"} & set(words):
        return subprocess.run(["bash", "-ec", line], check=True, capture_output=True, text=True).stdout
    if ">" in words:
        place = words.index(">")
        Path(words[place + 1]).write_text(kedge(*words[1:place]).stdout)
        return ""
    return kedge(*words[1:]).stdout


def compare(stated: str, printed: str) -> None:
    """Each stated line is a printed one; numbers may differ by a tenth, as they do between kinds of machines."""
    lines = {_masked(line): line for line in printed.splitlines()}
    for line in stated.splitlines():
        same = [own for mask, own in lines.items() if mask.startswith(_masked(line))]
        assert same, f"not printed: {line}"
        for one, other in zip(_numbers(line), _numbers(same[0]), strict=False):
            assert abs(one - other) <= max(0.05, 0.1 * abs(one)), f"{line!r} is {same[0]!r} now"


def _masked(line: str) -> str:
    return " ".join(_NUMBER.sub("0", line).split())


def _numbers(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(line)]
