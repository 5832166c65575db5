"""One process a job: its peak memory is its own, and a job that dies is told about instead of run again."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, cast

__all__ = ["Died", "Fresh"]

_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class Died:
    """What comes back for a job whose process ended without an answer."""

    reason: str


@dataclass(frozen=True)
class Fresh:
    """At most `workers` processes at a time, each started for one job."""

    workers: int

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As they are ready; a `Died` where a process was killed."""
        waiting = list(range(len(arguments)))[::-1]
        running: dict[Connection, tuple[int, SpawnProcess]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    place = waiting.pop()
                    answer, process = _start(job, arguments[place])
                    running[answer] = place, process
                for ready in wait(list(running)):
                    answer = cast(Connection, ready)
                    place, process = running.pop(answer)
                    yield place, _collect(answer, process)
        finally:
            for _, process in running.values():
                process.kill()
                process.join()


def _start(job: Callable[[Any], Any], argument: Any) -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    answer, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, argument, theirs, os.getpid()))
    # Libraries read these when they are loaded, so they must stand before the process begins.
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    theirs.close()
    return answer, process


def _work(job: Callable[[Any], Any], argument: Any, answer: Connection, parent: int) -> None:
    """Run the job in its own process, which does not outlive the one that asked."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is the parent's business: it ends its jobs
    try:
        result = job(argument)
    except Exception as error:
        result = Died(f"{type(error).__name__}: {' '.join(str(error).split())}")
    answer.send(result)


def _collect(answer: Connection, process: SpawnProcess) -> Any:
    try:
        result = answer.recv()
    except EOFError:
        result = None
    process.join()
    answer.close()
    if process.exitcode == 0 and result is not None:
        return result
    code = process.exitcode or 0
    if code == -signal.SIGKILL:
        return Died("its process was killed (out of memory?)")
    return Died(f"its process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}")
