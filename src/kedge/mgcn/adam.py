"""Adam (Kingma and Ba, ICLR 2015), in one pass over each parameter.

The same numbers as torch.optim.Adam, whose import brings in torch's compiler: 1 s and 70 MB that nothing here uses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numba
import numpy as np
import torch
from torch import Tensor

from kedge.types import FloatArray

__all__ = ["Adam"]

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8  # the paper's β_1, β_2 and ε


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})  # type: ignore[untyped-decorator]
def _move(p: FloatArray, g: FloatArray, mean: FloatArray, square: FloatArray, rate: float, scale: float) -> None:
    """One pass over a parameter: p -= rate m / (√v · scale + ε) with the new running means m and v."""
    # Of float32, or the compiler would do everything in double.
    slow, slower, least = np.float32(1 - _FIRST), np.float32(1 - _SECOND), np.float32(_LEAST)
    far, wide = np.float32(rate), np.float32(scale)
    for k in range(len(p)):
        mean[k] += slow * (g[k] - mean[k])
        square[k] += slower * (g[k] * g[k] - square[k])
        p[k] -= far * mean[k] / (np.sqrt(square[k]) * wide + least)


class Adam:
    """p -= rate m̂ / (√v̂ + ε), with m̂ and v̂ the running means of g and g² corrected for their start at 0."""

    def __init__(self, parameters: Iterable[Tensor], rate: float) -> None:
        self.parameters, self.rate, self.taken = list(parameters), rate, 0
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        """Change the parameters by their gradients, and forget the gradients."""
        self.taken += 1
        rate = self.rate / (1 - _FIRST**self.taken)
        scale = 1 / math.sqrt(1 - _SECOND**self.taken)
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            if parameter.grad is not None:
                tensors = (parameter, parameter.grad.contiguous(), mean, square)
                _move(*(tensor.view(-1).numpy() for tensor in tensors), rate, scale)
                parameter.grad = None
