"""What the review app knows of a run: arrays only, so that 100,000 matches fit beside everything else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kedge.answers import Sample
from kedge.config import Config
from kedge.decide.explanation import FieldsOfRun
from kedge.errors import KedgeError
from kedge.evidence import Evidence
from kedge.pipeline.explain import load_evidence, load_fields_of_run
from kedge.review.order import information_order
from kedge.store import DECIDED, load_decided, load_mixture, open_finished, read_manifest
from kedge.types import FloatArray, IntArray, Matches, Problem


@dataclass(frozen=True)
class ReviewData:
    """A run for review.

    `queue`: rows of `matches` that are assigned, the most informative first; `information` of each of them.
    `by_left`: where the candidates of each left account begin; `by_right` and `right_rows`: the same for right
    accounts, in rows of `matches`. `partner`: the known anchor of each account on either side, -1 where there is none;
    `matched`: the anchor or else the assigned partner of each left account. `evidence`: what explains log-odds, if the
    method left it. `reordered`: whether candidates stand in another order than that of their log-odds. `directory`:
    where the run is, if it is on the disk. `audit`: the queue is the sample of an audit, in its order, and nothing of
    what kedge decided is shown before an answer. `fields`: the profiles, if the run keeps them.
    """

    name: str
    run_id: str
    problem: Problem
    matches: Matches
    config: Config
    evidence: Evidence | None
    queue: IntArray
    information: FloatArray
    by_left: IntArray
    by_right: IntArray
    right_rows: IntArray
    partner: tuple[IntArray, IntArray]
    matched: IntArray
    reordered: bool = False
    directory: Path | None = None
    audit: bool = False
    fields: FieldsOfRun = field(default_factory=FieldsOfRun)

    def for_audit(self, sample: Sample) -> ReviewData:
        """The same run with the sample of an audit as its queue; pairs that are not assigned any more are dropped."""
        rows = sample.rows(self.matches)
        rows = rows[rows >= 0]
        return replace(self, queue=rows, information=np.zeros(len(rows)), audit=True)

    def refuse_replaced(self) -> None:
        """Raise if the directory holds another run by now: answers about these pairs would be filed with that one."""
        if self.directory is not None and read_manifest(self.directory)["run_id"] != self.run_id:
            raise KedgeError(
                "the run was matched again or replaced", file=self.directory, remedy="end `kedge review`, start it anew"
            )

    def row(self, left: int, right: int) -> int | None:
        """The row of a candidate pair, or None."""
        rows = self.candidates(left)
        found = rows[self.matches.right[rows] == right]
        return int(found[0]) if len(found) else None

    def candidates(self, left: int) -> IntArray:
        """The rows of a left account's candidates, best first."""
        return np.arange(self.by_left[left], self.by_left[left + 1])

    def rivals(self, right: int) -> IntArray:
        """The rows in which a right account is a candidate, the most probable first."""
        rows = self.right_rows[self.by_right[right] : self.by_right[right + 1]]
        return np.asarray(rows[np.argsort(-self.matches.probability[rows], kind="stable")])


def from_solution(
    name: str, run_id: str, problem: Problem, matches: Matches, config: Config, evidence: Evidence | None
) -> ReviewData:
    """The tables that answer the app's questions, made once."""
    queue, information = information_order(problem, matches)
    partner = (np.full(problem.left.n, -1), np.full(problem.right.n, -1))
    partner[0][problem.anchors[:, 0]] = problem.anchors[:, 1]
    partner[1][problem.anchors[:, 1]] = problem.anchors[:, 0]
    matched = partner[0].copy()
    matched[matches.left[queue]] = matches.right[queue]
    right_rows = np.argsort(matches.right, kind="stable")
    return ReviewData(
        name=name,
        run_id=run_id,
        problem=problem,
        matches=matches,
        config=config,
        evidence=evidence,
        queue=queue,
        information=information,
        by_left=np.searchsorted(matches.left, np.arange(problem.left.n + 1)),
        by_right=np.searchsorted(matches.right[right_rows], np.arange(problem.right.n + 1)),
        right_rows=right_rows,
        partner=partner,
        matched=matched,
    )


def load_review(directory: Path) -> ReviewData:
    """A finished run for review."""
    run = open_finished(directory, DECIDED)
    problem, matches, config = load_decided(run)
    evidence = load_evidence(run, problem)
    data = from_solution(directory.resolve().name, run.manifest["run_id"], problem, matches, config, evidence)
    fields = load_fields_of_run(run)
    return replace(data, reordered=bool(load_mixture(run)), directory=directory, fields=fields)
