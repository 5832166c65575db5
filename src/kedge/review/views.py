"""What each page shows, as JSON: the pair, the queue, the history, the search."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.answers import PURGE, VERDICTS, Entry
from kedge.review import responses
from kedge.review.explain import account, ego_networks, pair_terms, waterfall, way
from kedge.review.order import SHOWN
from kedge.review.profiles import field_rows
from kedge.review.queue import ReviewQueue
from kedge.review.requests import HistoryQuery, QueueQuery
from kedge.types import DECISIONS

_FOUND: Final = 20


def _rounded(value: float) -> float:
    return round(float(value), 4)


def entry_view(entry: Entry, undone: int | None) -> responses.Entry:
    """One row of the log."""
    return {
        "seq": entry.seq,
        "time": entry.time,
        "reviewer": entry.reviewer,
        "action": entry.action,
        "left": entry.left,
        "right": entry.right,
        "note": entry.note,
        "undoes": entry.undoes,
        "undone_by": undone,
        "forgotten": entry.forgotten,
        "hash": entry.hash,
    }


def pair_view(queue: ReviewQueue, left: int, right: int, reviewer: str, blind: bool) -> responses.Pair:
    """Everything about one pair. Blind: no scores, no order by score, and no other reviewer's decision."""
    data, state = queue.data, queue.log.state
    matches, problem = data.matches, data.problem
    blind = blind or queue.is_blind(reviewer, left, right)
    row = data.row(left, right)
    pair = queue.pair(left, right)
    found = pair_terms(data, left, right)
    standing = [e for e in state.standing(pair) if not blind or e.reviewer == reviewer]
    own = state.current(reviewer, pair)
    shown = None if blind else row  # the row whose numbers are shown
    return {
        "run": data.run_id,
        "left": account(problem.left, left),
        "right": account(problem.right, right),
        "probability": None if shown is None else _rounded(matches.probability[shown]),
        "score": None if shown is None else _rounded(matches.score[shown]),
        "margin": None if shown is None else _rounded(matches.margin[shown]),
        "counterpart": None if shown is None else _rounded(matches.counterpart[shown]),
        "rank": None if shown is None else int(matches.rank[shown]),
        "assigned": row is not None and bool(matches.assigned[row]),
        "decision": None if shown is None else DECISIONS[int(matches.decision[shown])],
        "known": bool(data.partner[0][left] == right),
        "rejected": bool((problem.rejected == (left, right)).all(axis=1).any()),
        "verdict": (own.action if own else None) if blind else queue.verdict(left, right),
        "standing": [entry_view(entry, None) for entry in standing],
        "seen": own.seq if own else 0,
        "warnings": queue.warnings(left, right),
        "candidates": _candidates(queue, left, right, blind),
        "rivals": _rivals(queue, left, right, blind),
        "ego": ego_networks(data, left, right, found, by_name=blind),
        "profiles": field_rows(found.fields, blind),
        "evidence": _unweighted(waterfall(data, found)) if blind else waterfall(data, found),
        "way": None if blind else way(data, left, right),
        "blind": blind,
        "asked": queue.is_asked(left, right),
    }


def _unweighted(evidence: responses.Evidence) -> responses.Evidence:
    """The steps without their weights, in the order of their names."""
    steps = evidence["steps"]
    for step in steps:
        step["weight"] = None
        if step["kind"] == "field":
            step["similarity"] = None
    return {**evidence, "total": None, "steps": sorted(steps, key=_by_name)}


def _by_name(step: responses.NeighbourStep | responses.FieldStep | responses.SumStep) -> tuple[int, str]:
    if step["kind"] == "field":
        return 0, ""
    return (1, step["left"]["id"]) if step["kind"] == "neighbour" else (2, step["kind"])


def _candidates(queue: ReviewQueue, left: int, right: int, blind: bool) -> list[responses.Choice]:
    """The right accounts to choose from, the shown one among them."""
    data = queue.data
    rows: list[int | None] = data.candidates(left)[:SHOWN].tolist()
    if all(data.matches.right[row] != right for row in rows):
        rows.append(data.row(left, right))
    listed = [_choice(queue, row, (left, right), "right", blind) for row in rows]
    return sorted(listed, key=lambda choice: choice["id"]) if blind else listed


def _rivals(queue: ReviewQueue, left: int, right: int, blind: bool) -> list[responses.Choice]:
    """Other left accounts that could be the right one's partner."""
    data = queue.data
    rows = [int(row) for row in data.rivals(right) if data.matches.left[row] != left][:3]
    listed = [_choice(queue, row, (left, right), "left", blind) for row in rows]
    return sorted(listed, key=lambda choice: choice["id"]) if blind else listed


def _choice(queue: ReviewQueue, row: int | None, shown: tuple[int, int], side: str, blind: bool) -> responses.Choice:
    """One side of a row; without a row, of the pair that is shown."""
    matches, problem = queue.data.matches, queue.data.problem
    left, right = shown if row is None else (int(matches.left[row]), int(matches.right[row]))
    return {
        **(account(problem.right, right) if side == "right" else account(problem.left, left)),
        "probability": None if blind or row is None else _rounded(matches.probability[row]),
        "assigned": row is not None and bool(matches.assigned[row]) and not blind,
        "verdict": None if blind else queue.verdict(left, right),
    }


def queue_view(queue: ReviewQueue, reviewer: str, query: QueueQuery) -> responses.Queue:
    """A page of the queue."""
    data, blind, start = queue.data, query.blind or queue.data.audit, query.offset
    places = queue.select(reviewer, query)
    mine = queue.mine(reviewer)
    rows: list[responses.QueueRow] = [
        {
            "left": account(data.problem.left, int(queue.left[place])),
            "right": account(data.problem.right, int(queue.right[place])),
            "probability": None if blind else _rounded(queue.probability[place]),
            "decision": None if blind else DECISIONS[int(queue.decision[place])],
            "information": None if blind else _rounded(data.information[place]),
            "verdict": None if blind and not mine[place] else queue.verdict_at(int(place)),
            "mine": bool(mine[place]),
        }
        for place in places[start : start + query.limit]
    ]
    return {"total": len(places), "offset": start, "limit": query.limit, "pairs": rows}


def history_view(queue: ReviewQueue, reviewer: str | None, query: HistoryQuery) -> responses.History:
    """Who decided what and when, newest first; of one reviewer or of all. Blind: nothing that others decided."""
    state, text = queue.log.state, query.text
    kept = [
        entry
        for entry in reversed(state.entries)
        if (reviewer is None or entry.reviewer == reviewer)
        and (entry.action == PURGE or entry.is_audit == state.audit)
        and (not text or text in entry.left or text in entry.right or text in entry.note)
    ]
    rows: list[responses.Logged] = []
    for entry in kept[query.offset : query.offset + query.limit]:
        numbers = queue.accounts(entry.pair)
        rows.append(
            {
                **entry_view(entry, state.undone.get(entry.seq)),
                "accounts": None if numbers is None else {"left": numbers[0], "right": numbers[1]},
                "standing": entry.action in VERDICTS and entry == state.current(entry.reviewer, entry.pair),
            }
        )
    contradictions: list[responses.Contradiction] = [
        {"side": found.side, "id": found.account, "partners": list(found.partners)}
        for found in state.contradictions()
        if not query.blind
    ]
    return {
        "total": len(kept),
        "offset": query.offset,
        "limit": query.limit,
        "entries": rows,
        "contradictions": contradictions,
        "head": queue.log.head,
    }


def search_view(queue: ReviewQueue, text: str) -> responses.Found:
    """Accounts of either side whose id contains the text, exact ones first, each with what is known of its partner."""
    return {"text": text, "left": _search(queue, 0, text), "right": _search(queue, 1, text)}


def _search(queue: ReviewQueue, side: int, text: str) -> list[responses.SearchHit]:
    network = (queue.data.problem.left, queue.data.problem.right)[side]
    hits = np.asarray(pc.indices_nonzero(pc.match_substring(network.ids, text)))[: 50 * _FOUND]
    names = network.ids.take(pa.array(hits))
    order = np.argsort(np.asarray(pc.utf8_length(names)), kind="stable")[:_FOUND]
    return [_found(queue, side, int(hits[i])) for i in order]


def _found(queue: ReviewQueue, side: int, number: int) -> responses.SearchHit:
    data = queue.data
    network = data.problem.left if side == 0 else data.problem.right
    known = int(data.partner[side][number])
    rows = data.candidates(number) if side == 0 else data.rivals(number)
    other: int | None = known
    if known < 0:
        other = int((data.matches.right if side == 0 else data.matches.left)[rows[0]]) if len(rows) else None
    far = data.problem.right if side == 0 else data.problem.left
    return {
        **account(network, number),
        "known": known >= 0,
        "partner": None if other is None else account(far, other),
        "candidates": len(rows),
    }
