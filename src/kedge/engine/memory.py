"""How many jobs fit into memory at once: never more workers than that, and a clear refusal where not even one fits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kedge.config import EngineConfig
from kedge.errors import KedgeError

__all__ = ["PROCESS_MB", "cores", "fitting_workers", "refuse_too_large", "resident_mb"]

PROCESS_MB: Final = 350.0  # an idle worker with torch loaded
_FREE_SHARE: Final = 0.8  # of the free memory, where no limit was given


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resident_mb() -> float:
    """What this process holds now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fitting_workers(config: EngineConfig, megabytes_each: float) -> int:
    """As many as asked for (0: one a core), but no more than fit beside this process; none is refused."""
    each = megabytes_each + PROCESS_MB
    wanted = config.workers or cores()
    if config.max_memory_mb:
        allowed = config.max_memory_mb - resident_mb()
        if allowed < each:
            _refuse(config.max_memory_mb, resident_mb() + each)
        return min(wanted, int(allowed // each))
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6
    # Without a limit of the user's one worker is always tried: the estimate may be too careful.
    return max(1, min(wanted, int(_FREE_SHARE * free // each)))


def refuse_too_large(config: EngineConfig, megabytes_each: float) -> None:
    """One job in this very process must stay within the limit, if there is one."""
    needed = resident_mb() + megabytes_each
    if config.max_memory_mb and needed > config.max_memory_mb:
        _refuse(config.max_memory_mb, needed)


def _refuse(limit: float, needed: float) -> None:
    raise KedgeError(
        f"training one part needs about {needed:,.0f} MB with what is held already, more than --max-memory "
        f"{limit:,.0f} MB",
        remedy="allow more, or make parts smaller with --set partition.n_max=5000 or --set mgcn.dimensions=64",
    )
