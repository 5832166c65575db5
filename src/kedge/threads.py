"""torch with one thread: sums come in one order then, so the same seed gives the same bits on any number of cores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["one_thread"]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """As many threads as before when it is left."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
