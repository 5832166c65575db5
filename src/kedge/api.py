"""kedge from Python: one call, and an estimator in the manner of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.config import Config, resolve
from kedge.context import Progress, RunContext, Silent
from kedge.ingest import read_network
from kedge.pipeline import Inputs, Outcome, match_in_memory
from kedge.types import Hypergraph, KedgeError, Matches, Network, Problem

if TYPE_CHECKING:
    from kedge.decide.explanation import Explanation
    from kedge.pipeline.embed import Embedded  # torch takes seconds to load: only embedding pays for it

__all__ = ["Config", "Hypergraph", "KedgeError", "Linker", "Matches", "Network", "Problem", "embed", "explain"]
__all__ += ["match", "read_network"]


def match(
    left: Any,
    right: Any,
    anchors: Any = None,
    *,
    preset: str = "default",
    left_hypergraph: Any = None,
    right_hypergraph: Any = None,
    left_profiles: Any = None,
    right_profiles: Any = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Matches:
    """Match two networks given some known pairs, or profiles, or both.

    left, right: a path, a data frame, a graph (NetworkX, igraph, PyG), a sparse matrix or pairs of ids.
    anchors: known (left id, right id) pairs: a path, a frame, a dict or a list; None where profiles have to do.
    left_hypergraph, right_hypergraph: hyperedges of one's own in place of the built ones, as for `embed`, for methods
    that look at any; a matrix has one row for each account in the order in which the network first names them.
    left_profiles, right_profiles: what else is known of the accounts: a path or a frame with a column of ids and any
    other columns.
    settings: by their names in `kedge config`, e.g. `{"method": "evidence"}`, or for the columns
    of files and frames `{"read.columns": "caller,callee"}`.

    `.notes` of the result has what `kedge match` prints to stderr. Anchors that do not fit are a warning, and no match.
    """
    hypergraphs, profiles = (left_hypergraph, right_hypergraph), (left_profiles, right_profiles)
    inputs = Inputs(left, right, anchors, hypergraphs=hypergraphs, profiles=profiles)
    return _solve(inputs, preset, seed, settings, progress).matches


def _solve(
    inputs: Inputs, preset: str, seed: int, settings: Mapping[str, Any] | None, progress: Progress | None = None
) -> Outcome:
    config = resolve(preset, overrides={**(settings or {}), "seed": seed})
    outcome = match_in_memory(inputs, config, progress)
    if outcome.calibrator.misfit is not None:
        warnings.warn(outcome.calibrator.misfit, stacklevel=3)
    return outcome


def embed(
    network: Any,
    *,
    hypergraph: Any = None,
    features: Any = None,
    profiles: Any = None,
    preset: str = "default",
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Embedded:
    """Vectors of one network by MGCN, as `kedge embed` makes them: `.ids`, `.vectors`, and `.fit` on the training.

    network: as for `match`.
    hypergraph: hyperedges of the user's own in place of the built ones: a path or a frame of account, hyperedge and p,
    or a matrix with one row for each account in the order of `.ids`.
    features: [n, f], in the same order, for `settings={"mgcn.start": "given"}`; one part only.
    profiles: what else is known of the accounts, for `settings={"hypergraph.builders": "neighbourhood+profiles"}`: a
    path or a frame with a column of ids and any other columns.
    """
    from kedge.pipeline.embed import embed as fit

    config = resolve(preset, overrides={**(settings or {}), "seed": seed})
    context = RunContext(progress=progress or Silent())
    return fit(network, config, context, hypergraph=hypergraph, features=features, profiles=profiles)


def explain(run: str | Path, left: str, right: str) -> Explanation:
    """A pair of a run directory explained, as `kedge explain` does; `print` shows it in three steps."""
    from kedge.pipeline.explain import explain_pair

    return explain_pair(Path(run), left, right)


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

    def fit(
        self,
        networks: tuple[Any, Any],
        anchors: Any = None,
        hypergraphs: tuple[Any, Any] = (None, None),
        profiles: tuple[Any, Any] = (None, None),
    ) -> Linker:
        """Match the two networks; hyperedges and profiles of each as for `match`."""
        inputs = Inputs(*networks, anchors, hypergraphs=hypergraphs, profiles=profiles)
        outcome = _solve(inputs, self.preset, self.seed, self.settings)
        self.matches_ = outcome.matches
        self.problem_ = outcome.problem
        self._outcome = outcome
        self._partner = {
            **{
                outcome.problem.left.name(u): outcome.problem.right.name(v)
                for u, v, decided in zip(self.matches_.left, self.matches_.right, self.matches_.decision, strict=True)
                if decided == 2
            },
            **{outcome.problem.left.name(u): outcome.problem.right.name(v) for u, v in outcome.problem.anchors},
        }
        return self

    def predict(self, left_ids: Iterable[str]) -> list[str | None]:
        """The right account decided for each left one (anchors included), or None for "no counterpart known"."""
        self._refuse_unfitted()
        return [self._partner.get(str(name)) for name in left_ids]

    def explain(self, left: str, right: str) -> Explanation:
        """Any pair explained: its evidence, its rivals, its counterpart; `print` shows it in three steps."""
        from kedge.pipeline.explain import explain_outcome

        self._refuse_unfitted()
        return explain_outcome(self._outcome, left, right)

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "_partner"):
            raise KedgeError("the linker is not fitted", remedy="call fit((left, right), anchors) first")
