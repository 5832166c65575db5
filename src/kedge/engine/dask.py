"""A Dask cluster: `dask scheduler` and `dask worker` processes anywhere that this machine reaches.

Arguments and results travel through the cluster, a few at a time, so workers need no common disk: this process alone
writes (docs/decisions/0008). Dask itself runs a dead worker's jobs again; a job that takes too long is submitted to
another worker as well, and the first result counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any, Final

from kedge.config import EngineConfig
from kedge.context.extras import need_extra
from kedge.errors import KedgeError

_LOOK_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Dask:
    """Jobs on the cluster at `address`."""

    address: str
    timeout: float = 0.0
    retries: int = 2
    connect_seconds: float = 10.0
    note: Callable[[str], None] = lambda _: None

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As they are ready."""
        need_extra("cluster", "the engine dask")
        from distributed import Client

        try:
            client = Client(self.address, timeout=self.connect_seconds, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise KedgeError(
                f"no Dask scheduler answers at {self.address} ({reason})",
                remedy="start `dask scheduler` and `dask worker` there, or check the address",
            ) from None
        try:
            threads = client.nthreads()
            if not threads:
                raise KedgeError(
                    f"the Dask scheduler at {self.address} has no workers", remedy=f"start `dask worker {self.address}`"
                )
            words = "1 worker" if len(threads) == 1 else f"{len(threads)} workers"
            self.note(f"engine dask: {words} with {sum(threads.values())} threads in all at {self.address}")
            yield from _Queue(self, client, job, arguments).results()
        finally:
            client.close()


@dataclass
class _Queue:
    """The jobs of one run on one cluster: which are running, and since when."""

    engine: Dask
    client: Any
    job: Callable[[Any], Any]
    arguments: Sequence[Any]
    running: dict[Any, tuple[int, float]] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)
    hung: set[str] = field(default_factory=set)

    def results(self) -> Iterator[tuple[int, Any]]:
        waiting = list(range(len(self.arguments)))[::-1]
        done: set[int] = set()
        while waiting or len(done) < len(self.arguments):
            # As many as can run, and one more: a job's argument is a whole part, and the scheduler holds it.
            room = sum(n for worker, n in self._threads().items() if worker not in self.hung) + 1
            while waiting and len(self.running) < room:
                self._submit(waiting.pop())
            for future in self._ready():
                place, _ = self.running.pop(future)
                if place not in done and (result := self._result(future, place)) is not None:
                    done.add(place)
                    yield place, result[0]
                future.release()
            self._resubmit_hung(done)

    def _submit(self, place: int) -> None:
        self.tries[place] = self.tries.get(place, 0) + 1
        others = [worker for worker in self._threads() if worker not in self.hung] if self.hung else None
        future = self.client.submit(self.job, self.arguments[place], pure=False, workers=others)
        self.running[future] = (place, time.monotonic())

    def _threads(self) -> dict[str, int]:
        try:
            threads: dict[str, int] = self.client.nthreads()
        except OSError:
            raise self._lost() from None
        return threads

    def _ready(self) -> set[Any]:
        from distributed import wait

        try:
            with self.client.as_current():
                ready: set[Any] = wait(list(self.running), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return set()
        except CancelledError:
            raise self._lost() from None
        return ready

    def _result(self, future: Any, place: int) -> tuple[Any] | None:
        """The result in a tuple, or None where the job was submitted again because its workers died."""
        from distributed.scheduler import KilledWorker

        try:
            return (future.result(),)
        except KilledWorker:
            if self.tries[place] > self.engine.retries:
                raise KedgeError(
                    f"job {place + 1} ended every Dask worker that took it",
                    remedy="is there enough memory? see the workers' logs, and `dask worker --memory-limit`",
                ) from None
            self._submit(place)
            return None
        except CancelledError:
            raise self._lost() from None

    def _resubmit_hung(self, done: set[int]) -> None:
        timeout, now = self.engine.timeout, time.monotonic()
        late = [(future, place) for future, (place, began) in self.running.items() if timeout and now - began > timeout]
        if not late:
            return
        holders = self.client.processing()
        for future, place in late:
            self.hung.update(worker for worker, keys in holders.items() if future.key in keys)
            del self.running[future]
            future.cancel()
            if place in done:
                continue
            if self.tries[place] > self.engine.retries or not set(self._threads()) - self.hung:
                raise KedgeError(
                    f"job {place + 1} did not come back from {self.engine.address} within {timeout:.0f} s",
                    remedy="a worker hangs: restart it, then run the same command again",
                )
            self._submit(place)

    def _lost(self) -> KedgeError:
        return KedgeError(
            f"the Dask scheduler at {self.engine.address} went away",
            remedy="start it again, then run the same command: finished parts are saved",
        )


def make(config: EngineConfig, megabytes_each: float, note: Callable[[str], None]) -> Dask:
    """The cluster that `engine.address` names; its workers limit their own memory."""
    del megabytes_each
    if not config.address:
        raise KedgeError("engine dask needs the scheduler's address", remedy="give --address tcp://host:8786")
    return Dask(config.address, config.timeout, config.retries, note=note)
