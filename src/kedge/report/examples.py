"""The pairs that the page explains: the most probable match and the most probable pair to review."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.decide.explanation import Explanation, FieldsOfRun, evidence_of, explain
from kedge.evidence import recall
from kedge.report.facts import Facts
from kedge.store import Contents
from kedge.types import DECISIONS, Matches


def explain_first(contents: Contents, facts: Facts) -> list[tuple[str, Explanation]]:
    """The first row of each table of pairs, explained; with a title each."""
    problem, support = contents.problem, contents.support
    titles = ("The most probable match, explained", "The most probable pair to review, explained")
    chosen = [(title, rows[0]) for title, rows in zip(titles, (facts.surest, facts.to_review), strict=True) if rows]
    if not chosen:
        return []
    evidence = None if support is None else recall(problem, support.beliefs, support.prior)
    fields = FieldsOfRun(contents.known_fields, contents.fields is not None, contents.with_vectors)
    matches = _around(contents, [row.left for _, row in chosen], [row.right for _, row in chosen])
    found = []
    for title, row in chosen:
        pair = int(problem.left.find([row.left])[0]), int(problem.right.find([row.right])[0])
        found.append((title, explain(problem, matches, pair, evidence_of(problem, evidence, pair, fields=fields))))
    return found


def _around(contents: Contents, left: list[str], right: list[str]) -> Matches:
    """The rows that have one of these accounts: all that an explanation looks at."""
    table, problem = contents.table, contents.problem
    near = pc.or_(pc.is_in(table["left"], pa.array(left)), pc.is_in(table["right"], pa.array(right)))
    rows = table.filter(near)
    plain = ("rank", "score", "probability", "margin", "counterpart", "assigned")
    return Matches(
        problem.left.ids,
        problem.right.ids,
        left=problem.left.find(rows["left"]),
        right=problem.right.find(rows["right"]),
        decision=np.asarray(pc.index_in(rows["decision"], value_set=pa.array(DECISIONS))).astype(np.int8),
        threshold=contents.threshold,
        **{name: rows[name].to_numpy() for name in plain},
    )
