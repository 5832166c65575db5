"""Run many independent jobs: here, in local processes, or on a Dask cluster; one small interface.

A job is a pure function of its argument, so it may run anywhere and again. Results come back as they are ready; a dead
or hung worker costs the jobs it held, which are run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from kedge.config import EngineConfig
from kedge.engine.memory import fitting_workers, refuse_too_large
from kedge.errors import KedgeError

__all__ = ["Engine", "make_engine", "refuse_too_large"]


class Engine(Protocol):
    """Where jobs run."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(place, result) of every argument, in the order in which they are ready."""
        ...


def _tell_nobody(_: str) -> None:
    pass


def make_engine(config: EngineConfig, megabytes_each: float, tell: Callable[[str], None] = _tell_nobody) -> Engine:
    """The engine that the configuration names; `megabytes_each` is what one job needs at its peak, `tell` hears where
    the jobs run."""
    if config.name == "dask":
        if not config.address:
            raise KedgeError("engine dask needs the scheduler's address", remedy="give --address tcp://host:8786")
        from kedge.engine.dask import Dask

        return Dask(config.address, config.timeout, config.retries, tell=tell)
    if config.name == "serial":
        from kedge.engine.serial import Serial

        refuse_too_large(config, megabytes_each)
        tell(f"engine serial: one part after the other, about {megabytes_each:,.0f} MB each")
        return Serial()
    from kedge.engine.processes import Processes

    workers = fitting_workers(config, megabytes_each)
    words = "1 worker process" if workers == 1 else f"{workers} worker processes"
    tell(f"engine processes: {words}, about {megabytes_each:,.0f} MB a part")
    return Processes(workers, config.timeout, config.retries)
