"""Processes that have imported kedge already: each is forked from one that did, and starts in no time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TextIO

import psutil

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["kedge.pipeline.match", "kedge.methods.kedge", "kedge.report", "kedge.review.app", "uvicorn"]
)


class Forked:
    """`job(*arguments)` in a process of its own, and one of its two streams to read from; the other is dropped."""

    def __init__(
        self, job: Callable[..., object], *arguments: object, stream: Literal["stdout", "stderr"] = "stdout"
    ) -> None:
        reader, writer = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_begin, args=(writer, stream == "stderr", job, arguments))
        self._process.start()
        writer.close()
        self.output: TextIO = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        reader.close()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def end(self) -> tuple[int, str]:
        """Its exit code, when it ends, and what it wrote that was not read yet."""
        with self.output:
            rest = self.output.read()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode, rest


def _begin(writer: Any, errors: bool, job: Callable[..., object], arguments: tuple[object, ...]) -> None:
    dropped = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(writer.fileno() if errors == (stream == 2) else dropped, stream)
    writer.close()
    job(*arguments)


def command(*words: object) -> None:
    """The command line, as `python -m kedge` runs it."""
    from kedge.cli import main

    sys.argv = ["kedge", *map(str, words)]
    main()


def command_in(environment: dict[str, str], *words: object) -> None:
    """The same with these variables in its environment."""
    os.environ.update(environment)
    command(*words)


def killed_when(folder: Path, pattern: str, count: int, *words: object) -> None:
    """The command line, killed -9 as soon as so many files of the folder are whole; prints its own processes first."""
    replace = os.replace

    def watched(old: Path, new: Path) -> None:
        replace(old, new)
        if len(list(folder.glob(pattern))) >= count:
            print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = watched  # type: ignore[assignment]
    command(*words)
