"""Run many independent jobs: here, in local processes, or on a Dask cluster; one small interface.

A job is a pure function of its argument, so it may run anywhere and again. Results come back as they are ready; a dead
or hung worker costs the jobs it held, which are run again. `kedge.config.ENGINES` lists the engines; the module of each
is `kedge.engine.NAME`, with `make(config, megabytes_each, note)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Protocol

from kedge.config import EngineConfig


class Engine(Protocol):
    """Where jobs run."""

    def run(self, job: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(place, result) of every argument, in the order in which they are ready."""
        ...


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
