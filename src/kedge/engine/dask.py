"""A Dask cluster: `dask scheduler` and `dask worker` processes anywhere that this machine reaches.

Arguments and results travel through the cluster, a few at a time, so workers need no common disk: this process alone
writes (docs/decisions/0008). Dask itself runs a dead worker's jobs again; a job that takes too long is submitted to
another worker as well, and the first result counts.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from kedge.config import EngineConfig
from kedge.context import need_extra
from kedge.engine.dask_address import Address, parse_address
from kedge.errors import KedgeError

_LOOK_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Dask:
    """Jobs on the cluster at `address`; a worker that is silent for `silence` seconds counts as hung."""

    address: Address
    timeout: float = 0.0
    retries: int = 2
    silence: float = 60.0
    connect_seconds: float = 10.0
    note: Callable[[str], None] = lambda _: None

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """As they are ready."""
        with self.session() as session:
            yield from session.run(job, arguments)

    @contextmanager
    def session(self) -> Iterator[DaskSession]:
        """A connection for several rounds of jobs."""
        need_extra("cluster", "the engine dask")
        self.address.probe(self.connect_seconds)
        with _without_noise():
            client = self._connect()
            try:
                threads = client.nthreads()
                if not threads:
                    raise self._no_workers()
                words = "1 worker" if len(threads) == 1 else f"{len(threads)} workers"
                self.note(f"engine dask: {words} with {sum(threads.values())} threads in all at {self.address}")
                yield DaskSession(self, client)
            finally:
                client.close()

    def _connect(self) -> Any:
        from distributed import Client

        try:
            return Client(
                str(self.address),
                timeout=self.connect_seconds,
                set_as_default=False,
                security=self.address.security(),
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise self.address.silent(" ".join(str(error).split()) or type(error).__name__) from None

    def _no_workers(self) -> KedgeError:
        return KedgeError(
            f"the Dask scheduler at {self.address} has no workers", remedy=f"start `dask worker {self.address}`"
        )


@contextmanager
def _without_noise() -> Iterator[None]:
    """Dask logs with tracebacks what kedge reports in one line."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@dataclass
class DaskSession:
    """An open connection. Values that jobs share are sent once, and stay on the workers as long as they are used.

    A shared value is the result of a task that returns it: where a worker is lost with it, the scheduler has it made
    again on another. So the scheduler holds every shared value in use.
    """

    engine: Dask
    client: Any
    held: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # id of a value: the value and its future
    hung: set[str] = field(default_factory=set)  # as in `_Queue`: known from one round of jobs to the next
    silent: set[str] = field(default_factory=set)
    seen: dict[str, tuple[float, float]] = field(default_factory=dict)

    def threads(self) -> int:
        """Of all workers."""
        return sum(self.client.nthreads().values())

    def run(
        self, job: Callable[..., Any], arguments: Sequence[Any], shared: Sequence[Any] = ()
    ) -> Iterator[tuple[int, Any]]:
        """(place, job(argument, *shared)) of every argument, as they are ready; shared values of the call before that
        are not used again are forgotten."""
        self.held = {name: both for name, both in self.held.items() if any(both[0] is value for value in shared)}
        queue = _Queue(self.engine, self.client, job, arguments, shared, self)
        queue.hung, queue.silent, queue.seen = self.hung, self.silent, self.seen
        try:
            yield from queue.results()
        finally:
            self.silent, self.seen = queue.silent, queue.seen

    def handles(self, shared: Sequence[Any], workers: Sequence[str] | None) -> list[Any]:
        """The futures of shared values; on these workers alone, where some are not to be used."""
        for value in shared:
            if id(value) not in self.held:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that it is large is the point
                    future = self.client.submit(_same, value, pure=False, workers=workers)
                self.held[id(value)] = (value, future)
        return [self.held[id(value)][1] for value in shared]

    def forget(self) -> None:
        """Send shared values anew: a worker that has them may not answer."""
        self.held.clear()


def _same(value: Any) -> Any:
    return value


@dataclass
class _Queue:
    """The jobs of one run on one cluster: which are running, and since when."""

    engine: Dask
    client: Any
    job: Callable[..., Any]
    arguments: Sequence[Any]
    shared: Sequence[Any]
    session: DaskSession
    running: dict[Any, tuple[int, float]] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)
    hung: set[str] = field(default_factory=set)  # workers with a job that took too long
    silent: set[str] = field(default_factory=set)  # workers without a heartbeat
    seen: dict[str, tuple[float, float]] = field(default_factory=dict)  # worker: its last heartbeat, when it was new
    alive: float = field(default_factory=time.monotonic)  # when a worker was last known to be alive

    def results(self) -> Iterator[tuple[int, Any]]:
        waiting = list(range(len(self.arguments)))[::-1]
        done: set[int] = set()
        while waiting or len(done) < len(self.arguments):
            # As many as can run, and one more: a job's argument is a whole part, and the scheduler holds it.
            room = sum(self._usable().values()) + 1
            while waiting and len(self.running) < room:
                self._submit(waiting.pop())
            for future in self._ready():
                place, _ = self.running.pop(future)
                if place not in done and (result := self._result(future, place)) is not None:
                    done.add(place)
                    yield place, result[0]
                future.release()
            self._leave_silent(done)
            self._leave_hung(done)

    def _submit(self, place: int) -> None:
        self.tries[place] = self.tries.get(place, 0) + 1
        others = list(self._usable()) if self.hung or self.silent else None
        handles = self.session.handles(self.shared, others or None)
        future = self.client.submit(self.job, self.arguments[place], *handles, pure=False, workers=others or None)
        self.running[future] = (place, time.monotonic())

    def _usable(self) -> dict[str, int]:
        """The threads of every worker that may get jobs."""
        try:
            threads: dict[str, int] = self.client.nthreads()
        except (OSError, TimeoutError):
            raise self._lost() from None
        return {worker: n for worker, n in threads.items() if worker not in self.hung | self.silent}

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

    def _leave_silent(self, done: set[int]) -> None:
        """Workers without a heartbeat (stopped, cut off) get no jobs until they have one again; others take theirs."""
        now, silence = time.monotonic(), self.engine.silence
        try:
            workers = self.client.scheduler_info()["workers"]
        except (OSError, TimeoutError):
            raise self._lost() from None
        # Only whether a heartbeat's time changes is looked at: the scheduler's clock may differ from ours.
        before, self.seen = self.seen, {}
        for worker, facts in workers.items():
            last, since = before.get(worker, (None, now))
            self.seen[worker] = (facts["last_seen"], since if facts["last_seen"] == last else now)
        silent = {worker for worker, (_, since) in self.seen.items() if now - since > silence}
        new, self.silent = silent - self.silent, silent
        self.alive = now if set(workers) - silent else self.alive
        if now - self.alive > silence:
            raise KedgeError(
                f"no worker of the Dask scheduler at {self.engine.address} gives a sign of life",
                remedy="restart them, then run the same command: finished parts are saved",
            )
        for worker in sorted(new):
            self.engine.note(f"no sign of life from the Dask worker at {worker} for {silence:g} s")
        if new and self._usable():
            held = {key for worker, keys in self.client.processing().items() if worker in new for key in keys}
            if self.shared:  # others may wait for a value that the silent worker alone has
                self.session.forget()
            for future, (place, _) in list(self.running.items()):
                if future.key in held or self.shared:
                    self._resubmit(future, place, done)

    def _leave_hung(self, done: set[int]) -> None:
        timeout, now = self.engine.timeout, time.monotonic()
        late = [(future, place) for future, (place, began) in self.running.items() if timeout and now - began > timeout]
        holders = self.client.processing() if late else {}
        for future, place in late:
            self.hung.update(worker for worker, keys in holders.items() if future.key in keys)
            self.session.forget()
            if place not in done and (self.tries[place] > self.engine.retries or not self._usable()):
                raise KedgeError(
                    f"job {place + 1} did not come back from {self.engine.address} within {timeout:.0f} s",
                    remedy="a worker hangs: restart it, then run the same command again",
                )
            self._resubmit(future, place, done)

    def _resubmit(self, future: Any, place: int, done: set[int]) -> None:
        del self.running[future]
        future.cancel()
        if place not in done:
            self._submit(place)

    def _lost(self) -> KedgeError:
        return KedgeError(
            f"the Dask scheduler at {self.engine.address} went away",
            remedy="start it again, then run the same command: finished parts are saved",
        )


def check(config: EngineConfig) -> None:
    """Refuse what cannot be a cluster: no library, no address, TLS files that are missing."""
    need_extra("cluster", "the engine dask")
    parse_address(config)


def make(config: EngineConfig, megabytes_each: float, note: Callable[[str], None]) -> Dask:
    """The cluster that `engine.address` names; its workers limit their own memory."""
    del megabytes_each
    return Dask(parse_address(config), config.timeout, config.retries, config.silence, note=note)
