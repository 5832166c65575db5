"""The machine: threads, cores, CPU seconds and memory; on Linux, macOS and Windows.

Sums have one thread: they come in one order then, so the same seed gives the same bits on any number of cores. Beliefs
depend on beliefs, so that a last digit can decide between accounts that are alike.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """torch with one thread; as many as before when it is left."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_entered = 0  # how many are inside of `one_blas_thread`: the limit is the process's, not a thread's
_lock = threading.Lock()
_limits: Any = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """numpy's and scipy's matrix products with one thread, where another number would split them otherwise.

    Long computations have threads of their own: evidence and the search for near accounts divide the accounts. As many
    threads as before when the last user leaves, in whichever thread of the process.
    """
    global _entered, _limits
    from threadpoolctl import threadpool_limits

    with _lock:
        if _entered == 0:
            _limits = threadpool_limits(limits=1, user_api="blas")
        _entered += 1
    try:
        yield
    finally:
        with _lock:
            _entered -= 1
            if _entered == 0:
                _limits.restore_original_limits()


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


def reuse_freed_memory() -> bool:
    """Let glibc reuse big freed blocks instead of returning them to the system after each use.

    A training step allocates the same big tensors again and again; without this, each one is faulted in anew,
    several times the cost of the arithmetic. False where there is no glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    trim_threshold, top_pad, mmap_max = -1, -2, -4
    return bool(mallopt(mmap_max, 0) and mallopt(trim_threshold, -1) and mallopt(top_pad, 64 << 20))
