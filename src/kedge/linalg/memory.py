"""How the C library hands out memory."""

from __future__ import annotations

import ctypes


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
