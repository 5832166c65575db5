"""What this process uses and what the machine has: CPU seconds, memory, cores; on Linux, macOS and Windows."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Memory(NamedTuple):
    """Memory of the machine in MB: all of it, and what can be used without swapping."""

    total: float
    available: float


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_seconds() -> float:
    """CPU time of this process and of its finished children (Windows does not count children)."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def memory() -> Memory:
    """Memory of the machine."""
    import psutil

    found = psutil.virtual_memory()
    return Memory(found.total / 1e6, found.available / 1e6)


def resident_mb() -> float:
    """The memory that this process holds now."""
    import psutil

    return float(psutil.Process().memory_info().rss / 1e6)


def peak_mb() -> float:
    """The largest resident memory of this process so far."""
    # A new process inherits its parent's ru_maxrss; VmHWM is its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset / 1e6)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
