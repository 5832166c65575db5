"""The crosswalk of a run: the partner of each left account, as known, as reviewers answered, and as kedge decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kedge import store
from kedge.answers import Pair, replay
from kedge.answers.learn import learn
from kedge.errors import KedgeError, did_you_mean
from kedge.pipeline.inputs import is_forgotten
from kedge.pipeline.solve import Outcome
from kedge.profiles import is_list
from kedge.types import DECISIONS, BoolArray, FloatArray, IntArray, Matches, Problem, Suspects, is_among

COLUMNS: Final = ("left", "right", "decision", "probability", "counterpart", "margin", "source")
_ORDER: Final = ("known", "confirmed", "match", "review", "no match")


def load_crosswalk(directory: Path, note: Callable[[str], None], everything: bool = False) -> pa.Table:
    """One row for each left account with a partner; with `everything` one for each left account.

    `known` pairs are the user's anchors, `confirmed` ones reviewers' answers up to now, whether or not a match has
    learnt from them; both have probability 1. A match that a reviewer rejected, or whose account was confirmed with
    another partner, is none. Known pairs come first, then confirmed ones, then the others by falling probability; ties
    by their ids.
    """
    run = store.open_finished(directory, store.DECIDED)
    problem, matches, _ = store.load_decided(run)
    given, answered, audited = _answered(directory, run, problem, note)
    return _crosswalk(matches, answered, given, audited, store.load_suspects(run), everything)


def crosswalk_of(outcome: Outcome, everything: bool = False) -> pa.Table:
    """The same of a match in memory, which no reviewer has looked at."""
    problem = outcome.problem
    none = np.empty((0, 2), np.int64)
    return _crosswalk(outcome.matches, problem, problem.anchors, none, outcome.suspects, everything)


def _crosswalk(
    matches: Matches, problem: Problem, given: IntArray, audited: IntArray, suspects: Suspects, everything: bool
) -> pa.Table:
    """The rows. The anchors of `problem` are the `given` ones and, after them, those that reviewers confirmed; of
    these and of the rejected ones `audited` are from an audit."""
    confirmed = problem.anchors[len(given) :]
    asked = is_among(confirmed, audited, problem.right.n)
    rows, ruled_out = _decided(matches, problem)
    if not everything:
        rows = rows[(matches.decision[rows] == DECISIONS.index("match")) & ~ruled_out[rows]]
    decision = np.where(ruled_out[rows], 0, matches.decision[rows])
    trusted = suspects.kept(given, problem.right.n)
    doubtful = given[~is_among(given, trusted, problem.right.n)]
    parts = [
        _certain(problem, trusted, "known", "anchors"),
        _certain(problem, doubtful, "known", "doubtful anchors"),
        _certain(problem, confirmed[~asked], "confirmed", "review"),
        _certain(problem, confirmed[asked], "confirmed", "audit"),
        _part(
            problem,
            matches.left[rows],
            matches.right[rows],
            np.array(DECISIONS)[decision],
            matches.probability[rows],
            _as_saved(matches.counterpart[rows]),
            _as_saved(matches.margin[rows]),
            np.where(ruled_out[rows], np.where(_among(matches, rows, audited), "audit", "review"), "kedge"),
        ),
    ]
    if everything:
        rest = np.ones(problem.left.n, bool)
        rest[np.concatenate([problem.anchors[:, 0], matches.left[rows]])] = False
        parts.append(_alone(problem, np.flatnonzero(rest & ~is_forgotten(problem.left))))
    table = pa.concat_tables(parts)
    order = pa.array([_ORDER.index(word) for word in table["decision"].to_pylist()], pa.int8())
    by = [("order", "ascending"), ("probability", "descending"), ("left", "ascending"), ("right", "ascending")]
    return table.append_column("order", order).sort_by(by).select(COLUMNS)


def with_fields(directory: Path, table: pa.Table, names: Sequence[str]) -> pa.Table:
    """A table of left and right ids with values of both profiles, as left_name and right_name; fields by their left
    names. Values that are lists become text."""
    run = store.open_finished(directory)
    known = store.load_known_fields(run)
    if known is None:
        remedy = "match with --left-profiles and --right-profiles, and profiles.keep all"
        raise KedgeError("the run has no profiles", file=directory, remedy=remedy)
    fields = {field.left: field for field in known.fitted.fields}
    problem = store.load_problem(run)
    places = [network.find(table[side]) for side, network in (("left", problem.left), ("right", problem.right))]
    for name in dict.fromkeys(name.strip() for name in names):
        if name not in fields:
            raise KedgeError(
                f"no compared field {name!r}",
                file=directory,
                remedy=did_you_mean(name, list(fields), f"choose among: {', '.join(fields)}", 0.4),
            )
        columns = (known.left.column(fields[name].left), known.right.column(fields[name].right))
        for side, at, column in zip(("left", "right"), places, columns, strict=True):
            table = table.append_column(f"{side}_{name}", _taken(column, at))
    return table


def _taken(column: pa.Array, at: IntArray) -> pa.Array:
    found = column.take(pa.array(at, mask=at < 0))
    if is_list(found):
        return pa.array([None if one is None else ", ".join(map(str, one)) for one in found.to_pylist()], pa.string())
    return found.cast(pa.string()) if pa.types.is_temporal(found.type) else found


def _answered(
    directory: Path, run: store.Artefacts, problem: Problem, note: Callable[[str], None]
) -> tuple[IntArray, Problem, IntArray]:
    """The user's own anchors, the problem with them and with all that reviewers have answered up to now, and the pairs
    whose answer is from an audit. In the export each answer counts, whoever asked for it."""
    state = store.read_decisions(directory)
    resolved = None if state is None else state.resolved()
    audit = None if state is None else replay(state.entries, audit=True).resolved()
    if resolved is not None and audit is not None:
        resolved = resolved.joined(audit)
    learnt = run.load(store.ANCHORS).get("confirmed")
    if learnt is None:  # a version that did not save which anchors are reviewers'
        yes = () if state is None else state.resolved().confirmed
        learnt = _pairs(problem, yes)
    own = problem.anchors[~is_among(problem.anchors, learnt, problem.right.n)]
    answered = replace(problem, anchors=own, rejected=np.empty((0, 2), np.int64))
    if resolved:
        answered, _ = learn(answered, resolved)
    undone = int((~is_among(learnt, answered.anchors, problem.right.n)).sum())
    if undone:
        note(f"{undone:,} pairs were confirmed when the run was matched and are no longer: match again to decide them")
    return own, answered, _pairs(problem, () if audit is None else (*audit.confirmed, *audit.rejected))


def _pairs(problem: Problem, ids: Sequence[Pair]) -> IntArray:
    """Pairs of ids as accounts, those that are in this run."""
    found = np.column_stack([problem.left.find([u for u, _ in ids]), problem.right.find([v for _, v in ids])])
    return found[(found >= 0).all(axis=1)]


def _among(matches: Matches, rows: IntArray, pairs: IntArray) -> BoolArray:
    return is_among(np.column_stack([matches.left[rows], matches.right[rows]]), pairs, len(matches.right_ids))


def _decided(matches: Matches, answered: Problem) -> tuple[IntArray, BoolArray]:
    """One row of `matches` for each left account without certain partner, and which rows reviewers rule out."""
    free_left, free_right = np.ones(len(matches.left_ids), bool), np.ones(len(matches.right_ids), bool)
    free_left[answered.anchors[:, 0]] = False
    free_right[answered.anchors[:, 1]] = False
    rejected = _among(matches, np.arange(len(matches)), answered.rejected)
    ruled_out = rejected | ~free_right[matches.right]
    # The assigned partner, else the most probable candidate.
    order = np.lexsort((matches.rank, ~matches.assigned, matches.left))
    order = order[free_left[matches.left[order]]]
    _, first = np.unique(matches.left[order], return_index=True)
    return order[first], ruled_out


def _as_saved(values: FloatArray) -> FloatArray:
    """Rounded as a run directory saves them, so that a match in memory has the same figures."""
    return values.astype(np.float32).astype(np.float64)


def _certain(problem: Problem, pairs: IntArray, decision: str, source: str) -> pa.Table:
    m = len(pairs)
    words = np.full(m, decision), np.full(m, source)
    return _part(problem, pairs[:, 0], pairs[:, 1], words[0], np.ones(m), np.ones(m), None, words[1])


def _alone(problem: Problem, accounts: IntArray) -> pa.Table:
    """Accounts without any candidate."""
    m = len(accounts)
    return _part(problem, accounts, None, np.full(m, "no match"), None, None, None, np.full(m, "kedge"))


def _part(problem: Problem, left: IntArray, right: IntArray | None, *columns: Any) -> pa.Table:
    """A table of these columns; None: no values."""
    m = len(left)
    ids = [
        problem.left.ids.take(pa.array(left)).cast(pa.large_string()),
        pa.nulls(m, pa.large_string()) if right is None else problem.right.ids.take(pa.array(right)),
    ]
    kinds = (pa.string(), pa.float64(), pa.float64(), pa.float64(), pa.string())
    rest = [
        pa.nulls(m, kind) if column is None else pa.array(column.tolist(), kind)
        for column, kind in zip(columns, kinds, strict=True)
    ]
    return pa.table(dict(zip(COLUMNS, [ids[0], ids[1].cast(pa.large_string()), *rest], strict=True)))
