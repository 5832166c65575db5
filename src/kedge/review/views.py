"""What each page shows, as JSON: the pair, the queue, the history, the search."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.decisions import VERDICTS, Entry
from kedge.review.desk import Desk, Filters
from kedge.review.explain import account, ego_networks, pair_terms, waterfall
from kedge.review.order import SHOWN
from kedge.types import DECISIONS, Network

__all__ = ["entry_view", "history_view", "pair_view", "queue_view", "search_view"]

_FOUND: Final = 20


def _rounded(value: float) -> float:
    return round(float(value), 4)


def entry_view(entry: Entry, undone: int | None) -> dict[str, Any]:
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


def pair_view(desk: Desk, left: int, right: int, reviewer: str, blind: bool) -> dict[str, Any]:
    """Everything about one pair. Blind: no scores, no order by score, and no other reviewer's decision."""
    data, state = desk.data, desk.log.state
    matches, problem = data.matches, data.problem
    row = data.row(left, right)
    pair = desk.pair(left, right)
    found = pair_terms(data, left, right)
    standing = [e for e in state.standing(pair) if not blind or e.reviewer == reviewer]
    own = state.current(reviewer, pair)
    numbers = {
        name: None if row is None or blind else _rounded(getattr(matches, name)[row])
        for name in ("probability", "score", "margin", "counterpart")
    }
    evidence = waterfall(data, found)
    if blind:
        evidence = {**evidence, "total": None, "steps": [{**step, "weight": None} for step in evidence["steps"]]}
        evidence["steps"].sort(key=_by_name)
    return {
        "run": data.run_id,
        "left": account(problem.left, left),
        "right": account(problem.right, right),
        **numbers,
        "rank": None if row is None or blind else int(matches.rank[row]),
        "assigned": row is not None and bool(matches.assigned[row]),
        "decision": None if row is None or blind else DECISIONS[int(matches.decision[row])],
        "known": bool(data.partner[0][left] == right),
        "rejected": bool((problem.rejected == (left, right)).all(axis=1).any()),
        "verdict": (own.action if own else None) if blind else desk.verdict(left, right),
        "standing": [entry_view(entry, None) for entry in standing],
        "seen": own.seq if own else 0,
        "warnings": desk.warnings(left, right),
        "candidates": _candidates(desk, left, right, blind),
        "rivals": _rivals(desk, left, right, blind),
        "ego": ego_networks(data, left, right, found, by_name=blind),
        "evidence": evidence,
        "blind": blind,
    }


def _by_name(step: dict[str, Any]) -> tuple[str, str]:
    return step.get("left", {}).get("id", "\U0010ffff"), step.get("kind", "")


def _candidates(desk: Desk, left: int, right: int, blind: bool) -> list[dict[str, Any]]:
    """The right accounts to choose from, the shown one among them."""
    data = desk.data
    rows = data.candidates(left)[:SHOWN]
    listed = [_choice(desk, int(row), "right", blind) for row in rows]
    if all(choice["account"] != right for choice in listed):
        row = data.row(left, right)
        if row is None:
            listed.append({**account(data.problem.right, right), "probability": None, "assigned": False})
        else:
            listed.append(_choice(desk, row, "right", blind))
    if blind:
        listed.sort(key=lambda choice: choice["id"])
    return [{**choice, "verdict": None if blind else desk.verdict(left, choice["account"])} for choice in listed]


def _rivals(desk: Desk, left: int, right: int, blind: bool) -> list[dict[str, Any]]:
    """Other left accounts that could be the right one's partner."""
    data = desk.data
    rows = [int(row) for row in data.rivals(right) if data.matches.left[row] != left][:3]
    listed = [_choice(desk, row, "left", blind) for row in rows]
    if blind:
        listed.sort(key=lambda choice: choice["id"])
    return [{**choice, "verdict": None if blind else desk.verdict(choice["account"], right)} for choice in listed]


def _choice(desk: Desk, row: int, side: str, blind: bool) -> dict[str, Any]:
    matches, problem = desk.data.matches, desk.data.problem
    network: Network = problem.right if side == "right" else problem.left
    return {
        **account(network, int(getattr(matches, side)[row])),
        "probability": None if blind else _rounded(matches.probability[row]),
        "assigned": bool(matches.assigned[row]) and not blind,
    }


def queue_view(
    desk: Desk, reviewer: str, filters: Filters, offset: int, limit: int, blind: bool = False
) -> dict[str, Any]:
    """A page of the queue."""
    data = desk.data
    places = desk.select(reviewer, filters)
    mine = desk.mine(reviewer)
    rows = [
        {
            "left": account(data.problem.left, int(desk.left[place])),
            "right": account(data.problem.right, int(desk.right[place])),
            "probability": None if blind else _rounded(desk.probability[place]),
            "decision": None if blind else DECISIONS[int(desk.decision[place])],
            "information": None if blind else _rounded(data.information[place]),
            "verdict": None if blind else desk.verdict_at(int(place)),
            "mine": bool(mine[place]),
        }
        for place in places[offset : offset + limit]
    ]
    return {"total": len(places), "offset": offset, "limit": limit, "pairs": rows}


def history_view(
    desk: Desk, reviewer: str | None, text: str, offset: int, limit: int, blind: bool = False
) -> dict[str, Any]:
    """Who decided what and when, newest first; one reviewer's rows, or everybody's. Blind: nothing that others said."""
    state = desk.log.state
    kept = [
        entry
        for entry in reversed(state.entries)
        if (reviewer is None or entry.reviewer == reviewer)
        and (not text or text in entry.left or text in entry.right or text in entry.note)
    ]
    rows = []
    for entry in kept[offset : offset + limit]:
        numbers = desk.accounts(entry.pair)
        rows.append(
            {
                **entry_view(entry, state.undone.get(entry.seq)),
                "accounts": None if numbers is None else {"left": numbers[0], "right": numbers[1]},
                "standing": entry.action in VERDICTS and entry == state.current(entry.reviewer, entry.pair),
            }
        )
    contradictions = [
        {"side": found.side, "id": found.account, "partners": list(found.partners)}
        for found in state.contradictions()
        if not blind
    ]
    return {
        "total": len(kept),
        "offset": offset,
        "limit": limit,
        "entries": rows,
        "contradictions": contradictions,
        "head": desk.log.head,
    }


def search_view(desk: Desk, text: str) -> dict[str, Any]:
    """Accounts of either side whose id contains the text, exact ones first, each with what is known of its partner."""
    data = desk.data
    found: dict[str, Any] = {}
    for side, network in enumerate((data.problem.left, data.problem.right)):
        hits = np.asarray(pc.indices_nonzero(pc.match_substring(network.ids, text)))[: 50 * _FOUND]
        names = network.ids.take(pa.array(hits))
        order = np.argsort(np.asarray(pc.utf8_length(names)), kind="stable")[:_FOUND]
        found[("left", "right")[side]] = [_found(desk, side, int(hits[i])) for i in order]
    return {"text": text, **found}


def _found(desk: Desk, side: int, number: int) -> dict[str, Any]:
    data = desk.data
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
