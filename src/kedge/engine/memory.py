"""How many jobs fit into memory at once: never more workers than that, and a clear refusal where not even one fits."""

from __future__ import annotations

from typing import Final

from kedge.config import EngineConfig
from kedge.context import cores, memory, resident_mb
from kedge.errors import KedgeError

PROCESS_MB: Final = 350.0  # an idle worker with torch loaded
_AVAILABLE_SHARE: Final = 0.8  # of the available memory, where no limit was given; unmeasured


def fitting_workers(config: EngineConfig, megabytes_each: float) -> int:
    """`engine.workers` (0: one per core), but no more than fit into memory with this process; none is refused."""
    each = megabytes_each + PROCESS_MB
    wanted = config.workers or cores()
    if config.max_memory_mb:
        allowed = config.max_memory_mb - resident_mb()
        if allowed < each:
            _refuse(config.max_memory_mb, resident_mb() + each)
        return min(wanted, int(allowed // each))
    # Without a limit from the user one worker is always tried: the estimate may be too careful.
    return max(1, min(wanted, int(_AVAILABLE_SHARE * memory().available // each)))


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
