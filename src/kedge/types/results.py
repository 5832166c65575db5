"""What a method returns (`Alignment`), what is decided from it (`Matches`), and which anchors are doubtful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.types.problem import FloatArray, IntArray, Problem, Side, as_pairs, is_among, read_only

DECISIONS: Final = ("no match", "review", "match")


@dataclass(frozen=True)
class Support:
    """What explains single pairs: the beliefs that the scores rest on, and the log-odds from elsewhere, if any."""

    beliefs: csr_array
    prior: csr_array | None = None

    def mirrored(self) -> Support:
        """The same with left and right exchanged."""
        prior = None if self.prior is None else csr_array(self.prior.T)
        return Support(csr_array(self.beliefs.T), prior)


class Alignment(Protocol):
    """Scores between the accounts of two networks; higher is likelier to be the same person."""

    @property
    def reorders(self) -> bool:
        """Whether candidates are in another order than that of their `strength`; probabilities then need both."""
        ...

    @property
    def support(self) -> Support | None:
        """What explains single pairs; None for a method that does not explain them."""
        ...

    @property
    def ordered_by(self) -> str:
        """What orders the candidates, as in `pairing.score`; empty where nothing was to be chosen."""
        ...

    def score(self, pairs: IntArray) -> FloatArray:
        """The score of each (left, right) pair, [m]."""
        ...

    def strength(self, pairs: IntArray) -> FloatArray:
        """The evidence for each pair by itself, whatever its rivals, [m]; -inf where the method has none."""
        ...

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The k best partners of each account of `side`, best first: accounts and scores, [len(nodes), k].

        Equal scores are in the order of the partner's number; rows with fewer candidates end in -1 and -inf.
        """
        ...

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """For each pair, seen from its account on `side`: how many partners score higher, how many others tie."""
        ...

    def log_odds(self, pairs: IntArray) -> FloatArray:
        """The log-odds that a pair network gives each pair, [m]; 0 without one."""
        ...

    def cosine(self, pairs: IntArray) -> FloatArray | None:
        """The cosine of the two accounts' vectors, [m]; None where the method has no vectors."""
        ...

    def without(self, left: IntArray, right: IntArray) -> Alignment:
        """The same without candidates and vectors of these accounts; all others keep their numbers."""
        ...

    def mirrored(self) -> Alignment:
        """The same with left and right exchanged."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named arrays, for a file; `of` of its class reads them back."""
        ...


@dataclass(frozen=True)
class Suspects:
    """Anchors that the rest of the evidence contradicts, the surest first.

    `pairs` [k, 2] are the anchors, `wrong` [k] the probability of each to be wrong, `better` [k, 2] the best candidates
    of its left account (a right one) and of its right account (a left one) in the run without it, -1 where that is no
    other account. `share` is the estimated share of wrong ones among the `examined` anchors. `unrelated`: the anchors
    as a whole share no more edges than random pairs would.
    """

    pairs: IntArray = field(default_factory=lambda: as_pairs([]))
    wrong: FloatArray = field(default_factory=lambda: np.empty(0))
    better: IntArray = field(default_factory=lambda: as_pairs([]))
    share: float = 0.0
    examined: int = 0
    unrelated: bool = False

    @classmethod
    def of(cls, held: Mapping[str, NDArray[Any]]) -> Suspects:
        """From named arrays, as `arrays` gives them."""
        known = float(held["share"]), int(held["examined"]), bool(held["unrelated"])
        return cls(held["pairs"], held["wrong"], held["better"], *known)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as named arrays, for a file."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def notes(self) -> tuple[str, ...]:
        """One line for people where anchors are doubtful."""
        if self.unrelated:
            return (
                "the anchors share no more edges than random pairs would: all of them may be wrong, or the networks "
                "have nothing in common",
            )
        if len(self) == 0:
            return ()
        verb = "are" if len(self) > 1 else "is"
        return (
            f"{len(self):,} of {self.examined:,} anchors {verb} contradicted by the rest of the evidence and not used: "
            "`kedge check --suspects` with the same files lists them",
        )

    def kept(self, pairs: IntArray, width: int) -> IntArray:
        """Those of the pairs [m, 2] that are not suspected; `width` is the number of right accounts."""
        return pairs[~is_among(pairs, self.pairs, width)] if len(self) else pairs

    def trusted(self, problem: Problem) -> Problem:
        """The problem with the other anchors alone."""
        return replace(problem, anchors=self.kept(problem.anchors, problem.right.n)) if len(self) else problem

    def without(self, left: IntArray, right: IntArray) -> Suspects:
        """The same without these accounts."""
        kept = ~(np.isin(self.pairs[:, 0], left) | np.isin(self.pairs[:, 1], right))
        gone = np.column_stack([np.isin(self.better[:, 0], right), np.isin(self.better[:, 1], left)])
        better = np.where(gone, -1, self.better)
        return replace(self, pairs=self.pairs[kept], wrong=self.wrong[kept], better=better[kept])

    def mirrored(self) -> Suspects:
        """The same with left and right exchanged."""
        return replace(self, pairs=self.pairs[:, ::-1], better=self.better[:, ::-1])


@dataclass(frozen=True)
class Matches:
    """Ranked candidates of each left account, best first, with their probabilities and decisions.

    One row for each candidate: `left` and `right` accounts, `rank` from 1 within the left account, `score` of the
    method, calibrated `probability`, `margin` of the score to the best other candidate, and `decision`, an
    index into `DECISIONS`. `counterpart` is the probability that the left account has any counterpart; divided by it,
    `probability` is the one among accounts known to have one. `assigned` marks the pairs of the assignment, sure
    or not; a row decided "match" or "review" is one of them. Assigned pairs are a match from `threshold` on. `notes`
    of a match in memory are the lines that `kedge match` prints to stderr.
    """

    left_ids: pa.Array
    right_ids: pa.Array
    left: IntArray
    right: IntArray
    rank: IntArray
    score: FloatArray
    probability: FloatArray
    margin: FloatArray
    decision: IntArray
    counterpart: FloatArray
    assigned: NDArray[np.bool_]
    threshold: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = ("left", "right", "rank", "score", "probability", "margin", "decision", "counterpart", "assigned")
        lengths = {name: len(getattr(self, name)) for name in names}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of unequal length: {lengths}")
        for name in names:
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.left)

    def partners(self, decision: str | None = None) -> dict[int, int]:
        """Left account -> assigned right account: all of them, or those with one of the `DECISIONS`."""
        rows = self.assigned if decision is None else self.assigned & (self.decision == DECISIONS.index(decision))
        return dict(zip(self.left[rows].tolist(), self.right[rows].tolist(), strict=True))

    @property
    def expected_precision(self) -> float | None:
        """The mean probability of the matches: how many of them are expected to be right; None without any."""
        called = self.probability[self.decision == DECISIONS.index("match")]
        return float(called.mean()) if len(called) else None

    def table(self) -> pa.Table:
        """The rows with the users' own ids, as an Arrow table; left accounts by their ids."""
        words = pa.array(DECISIONS)
        place = np.empty(len(self.left_ids), np.int64)
        place[np.asarray(pc.sort_indices(self.left_ids))] = np.arange(len(place))
        rows = pa.array(np.argsort(place[self.left], kind="stable"))
        table = pa.table(
            {
                "left": self.left_ids.take(pa.array(self.left)),
                "right": self.right_ids.take(pa.array(self.right)),
                "rank": pa.array(self.rank.astype(np.int32)),
                "score": pa.array(self.score.astype(np.float32)),
                # Not rounded: who reads the table counts the same matches from the threshold on as `decision` has.
                "probability": pa.array(self.probability.astype(np.float64)),
                "margin": pa.array(self.margin.astype(np.float32)),
                "decision": words.take(pa.array(self.decision.astype(np.int64))),
                "counterpart": pa.array(self.counterpart.astype(np.float32)),
                "assigned": pa.array(self.assigned),
            }
        )
        return table.take(rows)

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return self.table().to_pandas()
