"""Local processes, started afresh (spawn), never more than memory allows; a dead or hung one is replaced."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Final

from kedge.errors import KedgeError

__all__ = ["Processes", "fitting_workers"]

_PROCESS_MB: Final = 350.0  # an idle worker with torch loaded


def fitting_workers(asked: int, max_memory_mb: float, megabytes_each: float) -> int:
    """As many as asked for (0: one a core), but no more than fit into memory; at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = max_memory_mb or os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6 * 0.8
    return max(1, min(asked or cores, int(allowed // (megabytes_each + _PROCESS_MB))))


def _begin() -> None:
    """One thread a worker: the cores are divided by workers already, and results do not depend on threads."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"


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
                # It cannot be known whose worker died, so every job that did not come back counts one try.
                for place in waiting:
                    tries[place] += place not in done
                worst = max((tries[place] for place in waiting if place not in done), default=0)
                if worst > self.retries:
                    said = "did not answer in time" if isinstance(error, TimeoutError) else "died"
                    raise KedgeError(
                        f"a worker {said} {worst} times on the same job",
                        remedy="is there enough memory? try fewer workers with --set engine.workers=1",
                    ) from None
            waiting = [place for place in waiting if place not in done]

    def _round(
        self, job: Callable[[Any], Any], arguments: Sequence[Any], waiting: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin)
        try:
            queue = list(waiting)
            running: dict[Future[Any], tuple[int, float]] = {}
            while queue or running:
                # A few ahead and no more: arguments are copied when they are handed over.
                while queue and len(running) < self.workers + 1:
                    place = queue.pop(0)
                    running[pool.submit(job, arguments[place])] = (place, time.monotonic())
                ready, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ready:
                    place, _ = running.pop(future)
                    yield place, future.result()
                # Twice: a job may have waited its turn behind another.
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
