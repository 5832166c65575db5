"""Training on another device than the CPU, by torch alone.

On the CPU compiled loops take the place of some of torch's operations, since they are faster there. Data that `place`
has moved is in tensors throughout, and then torch's own operations are used. Random numbers are drawn on the CPU and
moved, so that every device gets the same ones; sums are rounded differently, so vectors are equal up to rounding only.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from kedge.types import KedgeError

T = TypeVar("T")


def find_device(name: str) -> torch.device | None:
    """The device that `engine.device` names; None: the CPU, with compiled loops."""
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return None
    if not torch.cuda.is_available():
        raise KedgeError("engine.device = cuda, and torch finds no such device", remedy="set engine.device=auto or cpu")
    return torch.device("cuda")


def place(value: T, device: torch.device) -> T:
    """The same data with every tensor and array in it as a tensor on the device."""
    moved: Any = value
    if isinstance(value, np.ndarray):
        moved = torch.from_numpy(value).to(device)
    elif isinstance(value, Tensor):
        moved = value.to(device)
    elif isinstance(value, tuple):
        moved = tuple(place(one, device) for one in value)
    elif is_dataclass(value) and not isinstance(value, type):
        moved = replace(value, **{one.name: place(getattr(value, one.name), device) for one in fields(value)})
    return moved  # type: ignore[no-any-return]


def edge_term(X: Tensor, bias: Tensor, first: Tensor, second: Tensor, chosen: Tensor | None) -> Tensor:
    """- mean over edges of log σ(x_i · x_j + b), the first sum of Eq. 10; `chosen` of 0 and 1 picks some."""
    logits = (X[first.long()] * X[second.long()]).sum(dim=1) + bias
    if chosen is None:
        return softplus(-logits).mean()
    return (softplus(-logits) * chosen).sum() / chosen.sum().clamp(min=1.0)


def noise_term(X: Tensor, bias: Tensor, pool: Tensor, weights: Tensor) -> Tensor:
    """Σ_v w_v Σ_k softplus(x_v · x_k + b) over the noise accounts of the pool."""
    return (softplus(X @ X[pool].T + bias) * weights[:, None]).sum()


def move_by_adam(p: Tensor, g: Tensor, mean: Tensor, square: Tensor, rate: float, scale: float) -> None:
    """One parameter's step of Adam, in place, as `kedge.mgcn.adam` does it; its β_1, β_2 and ε."""
    mean.lerp_(g, 0.1)
    square.lerp_(g * g, 0.001)
    p.sub_(rate * mean / (square.sqrt() * scale + 1e-8))
