"""Run many independent jobs: here, in local processes, or on a Dask cluster; one small interface.

A job is a pure function of its argument, so it may run anywhere and again. Results come back as they are ready; a dead
or hung worker costs the jobs it held, which are run again. `kedge.config.ENGINES` lists the engines; the module of each
is `kedge.engine.NAME`, with `make(config, megabytes_each, note)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from kedge.config import EngineConfig


class Engine(Protocol):
    """Where jobs run."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(place, result) of every argument, in the order in which they are ready."""
        ...


class Session(Protocol):
    """Workers elsewhere, for several rounds of jobs that share large values."""

    def threads(self) -> int:
        """Of all workers."""
        ...

    def run(
        self, job: Callable[..., Any], arguments: Sequence[Any], shared: Sequence[Any] = ()
    ) -> Iterator[tuple[int, Any]]:
        """(place, job(argument, *shared)) of every argument, in the order in which they are ready."""
        ...


@contextmanager
def open_session(config: EngineConfig, note: Callable[[str], None] = lambda _: None) -> Iterator[Session | None]:
    """The workers of a cluster, if the configuration names one; None where work stays on this machine."""
    if config.name != "dask":
        yield None
        return
    from kedge.engine.dask import make

    with make(config, 0.0, note).session() as session:
        yield session


def check_engine(config: EngineConfig) -> None:
    """Refuse an engine that cannot be made, before anything is read."""
    if config.name == "dask":
        from kedge.engine.dask import check

        check(config)


def make_engine(config: EngineConfig, megabytes_each: float, note: Callable[[str], None] = lambda _: None) -> Engine:
    """The engine that the configuration names.

    `megabytes_each` is the peak memory of one job; `note` is called with one line on where the jobs run.
    """
    engine: Engine = import_module(f"{__name__}.{config.name}").make(config, megabytes_each, note)
    return engine
