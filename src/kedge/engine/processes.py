"""Local processes, started afresh (spawn), never more than memory allows; a dead or hung one is replaced."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from kedge.config import EngineConfig
from kedge.engine.memory import fitting_workers
from kedge.errors import KedgeError

ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)


def begin_worker() -> None:
    """One thread per worker, since workers share the cores already; and a worker that ends with its parent."""
    os.environ.update(ONE_THREAD)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is for the parent, which ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


@contextlib.contextmanager
def without_script(job: Callable[..., Any]) -> Iterator[None]:
    """Processes that start meanwhile do not run the user's script again, as spawned ones do: it need not be written for
    that, and may be no file. A job of the script itself needs it."""
    script = sys.modules["__main__"]
    if getattr(getattr(job, "func", job), "__module__", None) == "__main__":
        yield
        return
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _end_with_parent() -> None:
    """End this process when its parent is killed: it would wait for jobs for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


@dataclass(frozen=True)
class Processes:
    """A pool that outlives its workers."""

    workers: int
    timeout: float = 0.0
    retries: int = 2

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As they are ready."""
        tries = dict.fromkeys(range(len(arguments)), 0)
        waiting = list(tries)
        while waiting:
            done: list[int] = []
            try:
                for place, result in self._round(job, arguments, waiting):
                    done.append(place)
                    yield place, result
            except (BrokenProcessPool, TimeoutError) as error:
                # It is not known which worker died, so every unfinished job counts one try.
                for place in waiting:
                    tries[place] += place not in done
                worst = max((tries[place] for place in waiting if place not in done), default=0)
                if worst > self.retries:
                    reason = "did not answer in time" if isinstance(error, TimeoutError) else "died"
                    raise KedgeError(
                        f"a worker {reason} {worst} times on the same job",
                        remedy="is there enough memory? try fewer workers with --workers 1",
                    ) from None
            waiting = [place for place in waiting if place not in done]

    def _round(
        self, job: Callable[[Any], Any], arguments: Sequence[Any], waiting: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=begin_worker)
        try:
            queue = list(waiting)
            running: dict[Future[Any], tuple[int, float]] = {}
            while queue or running:
                # Few jobs ahead: arguments are copied when a job is submitted.
                while queue and len(running) < self.workers + 1:
                    place = queue.pop(0)
                    with without_script(job):
                        running[pool.submit(job, arguments[place])] = (place, time.monotonic())
                ready, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ready:
                    place, _ = running.pop(future)
                    yield place, future.result()
                # Twice: a job may have waited for another to end.
                now = time.monotonic()
                if self.timeout and any(now - began > 2 * self.timeout for _, began in running.values()):
                    raise TimeoutError
        finally:
            _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    """Do not wait for a hung worker: end every one."""
    workers = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in workers:
        process.terminate()
    for process in workers:
        process.join(5)
        if process.is_alive():
            process.kill()


def make(config: EngineConfig, megabytes_each: float, note: Callable[[str], None]) -> Processes:
    """As many workers as fit into memory."""
    workers = fitting_workers(config, megabytes_each)
    words = "1 worker process" if workers == 1 else f"{workers} worker processes"
    note(f"engine processes: {words}, about {megabytes_each:,.0f} MB per part")
    return Processes(workers, config.timeout, config.retries)
