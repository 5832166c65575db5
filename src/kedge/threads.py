"""One thread for sums: they come in one order then, so the same seed gives the same bits on any number of cores.

Beliefs rest on beliefs, so that a last digit can decide between accounts that look alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["one_blas_thread", "one_thread"]


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


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """numpy's, scipy's and faiss's matrix products with one thread, where another number would split them otherwise.

    What takes long has threads of its own: evidence and the search for near accounts share out whole accounts.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
