"""kedge from Python: one call, and an estimator in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kedge.config import resolve
from kedge.errors import KedgeError
from kedge.pipeline import Inputs, Progress, Solution
from kedge.pipeline import match as run_match
from kedge.types import Matches

__all__ = ["Linker", "match"]


def match(
    left: Any,
    right: Any,
    anchors: Any,
    *,
    preset: str = "default",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Matches:
    """Match two networks given some known pairs.

    left, right: a path, a data frame, a graph (NetworkX, igraph, PyG), a sparse matrix or pairs of ids.
    anchors: known (left id, right id) pairs: a path, a frame, a dict or a list.
    settings: by their names in `kedge config`, e.g. `{"method": "evidence"}`.
    """
    return _solve(left, right, anchors, preset, seed, settings, progress).matches


def _solve(
    left: Any,
    right: Any,
    anchors: Any,
    preset: str,
    seed: int,
    settings: Mapping[str, Any] | None,
    progress: Progress | None = None,
) -> Solution:
    config = resolve(preset, overrides={**(settings or {}), "seed": seed})
    return run_match(Inputs(left, right, anchors), config, progress)


class Linker:
    """An estimator: `fit((left, right), anchors)`, then `predict(left_ids)`; results end in an underscore.

    matches_: all candidates (kedge.Matches); problem_: the networks and anchors as kedge read them.
    """

    def __init__(self, preset: str = "default", seed: int = 0, settings: Mapping[str, Any] | None = None) -> None:
        self.preset = preset
        self.seed = seed
        self.settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn's signature)
        """The parameters by name."""
        return {"preset": self.preset, "seed": self.seed, "settings": self.settings}

    def set_params(self, **parameters: Any) -> Linker:
        """Set parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"no parameter {name!r}; known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def fit(self, networks: tuple[Any, Any], anchors: Any) -> Linker:
        """Match the two networks."""
        left, right = networks
        solution = _solve(left, right, anchors, self.preset, self.seed, self.settings)
        self.matches_ = solution.matches
        self.problem_ = solution.problem
        self._partner = {
            **{
                solution.problem.left.name(u): solution.problem.right.name(v)
                for u, v, decided in zip(self.matches_.left, self.matches_.right, self.matches_.decision, strict=True)
                if decided == 2
            },
            **{solution.problem.left.name(u): solution.problem.right.name(v) for u, v in solution.problem.anchors},
        }
        return self

    def predict(self, left_ids: Iterable[str]) -> list[str | None]:
        """The right account decided for each left one (anchors included), or None for "no counterpart known"."""
        if not hasattr(self, "_partner"):
            raise KedgeError("the linker is not fitted", remedy="call fit((left, right), anchors) first")
        return [self._partner.get(str(name)) for name in left_ids]
