"""kedge as an estimator in the manner of scikit-learn, which need not be installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kedge.api.backing import Held
from kedge.api.explained import Explained
from kedge.api.matching import solve_in_memory
from kedge.api.objects import as_settings, as_source, one_id, two_sides
from kedge.api.progress import progress_of
from kedge.api.run import Run
from kedge.api.tables import MatchRow
from kedge.api.wording import worded
from kedge.config import checked_share, resolve
from kedge.errors import KedgeError, did_you_mean
from kedge.pipeline import Inputs
from kedge.types import FloatArray

_NEAR = 100_000  # ids among which a similar one is searched for


class NotFittedError(KedgeError, ValueError, AttributeError):
    """The linker was asked before it was fitted; like scikit-learn's error, a ValueError and an AttributeError."""


class Linker:
    """An estimator: `fit((left, right), anchors)`, then `predict(left_ids)`; what was learnt ends in an underscore.

    run_: the matches and everything else, as `kedge.match` returns it. matches_: all candidates (kedge.Matches).
    problem_: the networks and anchors as kedge read them. left_ids_: the left accounts, in the order of `fit_predict`.

    Parameters are those of `kedge.match`; they are looked at when it is fitted, as scikit-learn wants it.

    >>> import kedge
    >>> pair = kedge.synth(nodes=150, overlap=0.85, train=0.3, seed=3)
    >>> linker = kedge.Linker(seed=0).fit((pair.left, pair.right), pair.train)
    >>> left, right = pair.train["left"][0].as_py(), pair.train["right"][0].as_py()
    >>> linker.predict([left]) == [right]
    True
    """

    def __init__(
        self,
        method: str | None = None,
        preset: str = "default",
        precision: float | None = None,
        counterparts: str | None = None,
        seed: int | None = None,
        settings: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> None:
        self.method = method
        self.preset = preset
        self.precision = precision
        self.counterparts = counterparts
        self.seed = seed
        self.settings = settings
        self.progress = progress

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn's signature)
        """The parameters by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Linker:
        """Set parameters by name; the linker."""
        for name in parameters:
            if name not in _PARAMETERS:
                known = did_you_mean(name, _PARAMETERS, f"known: {', '.join(_PARAMETERS)}")
                raise ValueError(f"no parameter {name!r} of Linker; {known}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @worded
    def fit(
        self,
        networks: tuple[Any, Any],
        anchors: Any = None,
        hypergraphs: tuple[Any, Any] | None = None,
        profiles: tuple[Any, Any] | None = None,
    ) -> Linker:
        """Match the two networks in memory; anchors, hyperedges and profiles as for `kedge.match`. The linker."""
        if not isinstance(networks, tuple | list) or len(networks) != 2:
            raise KedgeError("fit takes a pair of networks", remedy="call fit((left, right), anchors)")
        left, right = map(as_source, networks)
        own, known = (
            two_sides(hypergraphs, None, None, "hypergraphs", "hypergraph"),
            two_sides(profiles, None, None, "profiles", "profiles"),
        )
        inputs = Inputs(left, right, as_source(anchors), None, own, known)
        given: dict[str, Any] = as_settings(self.settings)
        named = {"method": self.method, "seed": self.seed, "decide.precision": self.precision}
        given |= {name: value for name, value in named.items() if value is not None}
        if self.counterparts is not None:
            given["decide.counterparts"] = checked_share(str(self.counterparts))
        outcome = solve_in_memory(inputs, resolve(self.preset, overrides=given), progress_of(self.progress), 4)
        self.run_ = Run(Held(outcome, ("left", "right")), outcome.matches.notes)
        self.matches_, self.problem_ = outcome.matches, outcome.problem
        rows = list(self.run_.all())
        self.left_ids_ = sorted(row.left for row in rows)
        self._rows = {row.left: row for row in rows}
        return self

    @worded
    def predict(self, left_ids: Iterable[object]) -> list[str | None]:
        """The right account of each left one, known or matched, as text; None for "no match"."""
        return [row.right if row.decision in ("known", "match") else None for row in self._asked(left_ids)]

    @worded
    def predict_proba(self, left_ids: Iterable[object]) -> FloatArray:
        """[n, 2]: the probabilities that the best partner of each left account is wrong, and that it is right.

        The best partner is that of `predict`, or the most probable candidate where no pair is sure enough; without any
        candidate the second is 0.
        """
        right = np.array([row.probability or 0.0 for row in self._asked(left_ids)], np.float64)
        return np.column_stack([1 - right, right])

    def fit_predict(
        self,
        networks: tuple[Any, Any],
        anchors: Any = None,
        hypergraphs: tuple[Any, Any] | None = None,
        profiles: tuple[Any, Any] | None = None,
    ) -> list[str | None]:
        """Fit, then predict every left account, in the order of `left_ids_`."""
        fitted = self.fit(networks, anchors, hypergraphs, profiles)
        return fitted.predict(fitted.left_ids_)

    @worded
    def score(self, left_ids: Iterable[object], right_ids: Iterable[object]) -> float:
        """The share of left accounts whose prediction is the right account next to it."""
        predicted, true = self.predict(left_ids), [one_id(name) for name in right_ids]
        if len(predicted) != len(true) or not true:
            raise KedgeError(
                f"{len(predicted):,} left and {len(true):,} right ids", remedy="give as many of each, at least one"
            )
        return sum(one == other for one, other in zip(predicted, true, strict=True)) / len(true)

    @worded
    def explain(self, left: object, right: object) -> Explained:
        """Any pair explained: its evidence, its rivals, its counterpart; `print` shows it in three steps."""
        self._refuse_unfitted()
        return self.run_.explain(left, right)

    def _asked(self, left_ids: Iterable[object]) -> list[MatchRow]:
        self._refuse_unfitted()
        if isinstance(left_ids, str | bytes):
            raise KedgeError(f"{left_ids!r} is one id, not a list of ids", remedy=f"write [{left_ids!r}]")
        names = [one_id(name) for name in left_ids]
        unknown = [name for name in names if name not in self._rows]
        if unknown:
            right = self.problem_.right.find([unknown[0]])[0] >= 0
            near = did_you_mean(unknown[0], self._rows, "check the id") if len(self._rows) <= _NEAR else "check the id"
            raise KedgeError(
                f"{len(unknown):,} of {len(names):,} ids are of no left account, the first {unknown[0]!r}",
                remedy="it is a right account: give left ones" if right else near,
            )
        return [self._rows[name] for name in names]

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "_rows"):
            raise NotFittedError("the linker is not fitted", remedy="call fit((left, right), anchors) first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_rows")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: the input is two networks, no table of numbers."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=False, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=inputs, no_validation=True)

    def __repr__(self) -> str:
        usual = Linker()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != getattr(usual, name)]
        return f"Linker({', '.join(changed)})"


_PARAMETERS = ("method", "preset", "precision", "counterparts", "seed", "settings", "progress")
