"""One thread for sums: they come in one order then, so the same seed gives the same bits on any number of cores.

Beliefs depend on beliefs, so that a last digit can decide between accounts that are alike.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


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
