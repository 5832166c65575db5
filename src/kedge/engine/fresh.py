"""One process per job: its peak memory is its own, and a job whose process dies is reported instead of run again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, cast

from kedge.engine.processes import ONE_THREAD, begin_worker, without_script


@dataclass(frozen=True)
class Died:
    """The result of a job that failed or whose process ended without a result."""

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
    process = context.Process(target=_work, args=(job, argument, theirs))
    # Libraries read these when they are loaded, so they must be set before the process begins.
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with without_script(job):
            process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    theirs.close()
    return answer, process


def _work(job: Callable[[Any], Any], argument: Any, answer: Connection) -> None:
    """Run the job in its own process."""
    begin_worker()
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
    if code == -getattr(signal, "SIGKILL", 9):
        return Died("its process was killed (out of memory?)")
    return Died(f"its process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}")
