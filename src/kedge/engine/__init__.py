"""Run many independent jobs: here, in local processes, or on a Dask cluster; one small interface.

A job is a pure function of its argument, so it may run anywhere and again. Results come back as they are ready; a dead
or hung worker costs the jobs it held, which are run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from kedge.config import EngineConfig
from kedge.errors import KedgeError

__all__ = ["Engine", "make_engine"]


class Engine(Protocol):
    """Where jobs run."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(place, result) of every argument, in the order in which they are ready."""
        ...


def make_engine(config: EngineConfig, megabytes_each: float) -> Engine:
    """The engine that the configuration names; `megabytes_each` is what one job needs at its peak."""
    if config.name == "serial":
        from kedge.engine.serial import Serial

        return Serial()
    if config.name == "processes":
        from kedge.engine.processes import Processes, fitting_workers

        workers = fitting_workers(config.workers, config.max_memory_mb, megabytes_each)
        return Processes(workers, config.timeout, config.retries)
    if not config.address:
        raise KedgeError("engine dask needs the scheduler's address", remedy="give --address tcp://host:8786")
    from kedge.engine.dask import Dask

    return Dask(config.address, config.timeout, config.retries)
