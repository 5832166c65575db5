"""The OpenAPI document of the review app: what every page can also be asked for as JSON."""

from __future__ import annotations

from typing import Any

from kedge import __version__
from kedge.decisions import VERDICTS
from kedge.review.bodies import DecisionBody, ReviewerBody, UndoBody
from kedge.review.desk import STATUSES
from kedge.review.guard import CSRF_HEADER
from kedge.types import DECISIONS

__all__ = ["document"]


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": [kind, "null"], **more}


_TEXT = {"type": "string"}
_WHOLE = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_VERDICT = {"enum": [*VERDICTS, "disputed", None]}
_ACCOUNT = {"account": _WHOLE, "id": _TEXT, "degree": _WHOLE}
_PLACES = {"anyOf": [_object("left right", left=_WHOLE, right=_WHOLE), {"type": "null"}]}
_ENTRY = {
    "seq": _WHOLE,
    "time": {"type": "string", "format": "date-time"},
    "reviewer": _TEXT,
    "action": {"enum": [*VERDICTS, "undo"]},
    "left": _TEXT,
    "right": _TEXT,
    "note": _TEXT,
    "undoes": _maybe("integer"),
    "undone_by": _maybe("integer"),
    "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


def _schemas() -> dict[str, Any]:
    number = _maybe("number")
    choice = {**_ACCOUNT, "probability": _SHARE, "assigned": _FLAG, "verdict": _VERDICT}
    joined = {"left": _ref("Account"), "right": _ref("Account"), "belief": _SHARE, "known": _FLAG}
    step = {
        "kind": {"enum": ["neighbour", "other", "missing_left", "missing_right", "profile"]},
        "weight": number,
        "count": _WHOLE,
        **joined,
    }
    ego_side = _object(
        "alone more edges",
        alone=_list(_object("account id degree elsewhere", **_ACCOUNT, elsewhere=_FLAG)),
        more=_WHOLE,
        edges=_list({"type": "array", "items": _WHOLE, "minItems": 2, "maxItems": 2}),
    )
    return {
        "Error": _object("error", error=_TEXT, conflict=_FLAG, contradiction=_list(_ref("Warning"))),
        "Account": _object("account id degree", **_ACCOUNT),
        "Entry": _object(" ".join(_ENTRY), **_ENTRY),
        "Warning": _object("side id partner by", side={"enum": ["left", "right"]}, id=_TEXT, partner=_TEXT, by=_TEXT),
        "Choice": _object("account id probability verdict", **choice),
        "Pair": _object(
            "run left right probability score margin rank decision verdict standing seen warnings candidates rivals "
            "ego evidence blind",
            run=_TEXT,
            left=_ref("Account"),
            right=_ref("Account"),
            probability=_SHARE,
            score=number,
            margin=number,
            counterpart=_SHARE,
            rank=_maybe("integer"),
            assigned=_FLAG,
            decision={"enum": [*DECISIONS, None]},
            known=_FLAG,
            rejected=_FLAG,
            verdict=_VERDICT,
            standing=_list(_ref("Entry")),
            seen=_WHOLE,
            warnings=_list(_ref("Warning")),
            candidates=_list(_ref("Choice")),
            rivals=_list(_ref("Choice")),
            ego=_object(
                "joined left right", joined=_list(_object(" ".join(joined), **joined)), left=ego_side, right=ego_side
            ),
            evidence=_object("unit steps total", unit=_TEXT, steps=_list(_object("kind weight", **step)), total=number),
            blind=_FLAG,
        ),
        **{kind.__name__: kind.model_json_schema() for kind in (DecisionBody, UndoBody, ReviewerBody)},
    }


def _answer(words: str, schema: Any) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _parameter(name: str, schema: Any, words: str, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": words}


_WHO = {"401": _answer("no session: open the link that was printed", _ref("Error"))}
_WRONG = {"422": _answer("a parameter is wrong", _ref("Error"))}
_BLIND = _parameter("blind", {"enum": ["0", "1", "true", "false"]}, "without scores and others' decisions")
_PAGE = [
    _parameter("offset", {"type": "integer", "minimum": 0, "maximum": 2**31}, "rows to pass over"),
    _parameter("limit", {"type": "integer", "minimum": 0, "maximum": 200}, "rows at most"),
]
_FILTERS = [
    _parameter("status", {"enum": list(STATUSES)}, "open: nobody decided; second: others did, I did not"),
    _parameter("decision", {"enum": list(DECISIONS)}, "what the run says"),
    _parameter("least", {"type": "number", "minimum": 0, "maximum": 1}, "least probability"),
    _parameter("most", {"type": "number", "minimum": 0, "maximum": 1}, "largest probability"),
    _parameter("q", _TEXT, "part of an id"),
]


def _get(words: str, schema: Any, parameters: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "get": {
            "summary": words,
            "parameters": parameters or [],
            "responses": {"200": _answer("ok", schema), **_WHO, **(_WRONG if parameters else {}), **more},
        }
    }


def _post(words: str, body: str, answers: dict[str, Any]) -> dict[str, Any]:
    refusals = {
        "403": _answer("another site, no CSRF token, or nobody named", _ref("Error")),
        "413": _answer("too large", _ref("Error")),
        "415": _answer("not JSON", _ref("Error")),
    }
    return {
        "post": {
            "summary": words,
            "security": [{"session": [], "csrf": []}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": _ref(body)}}},
            "responses": {**answers, **_WHO, **refusals, **_WRONG},
        }
    }


def _paths() -> dict[str, Any]:
    one = _object("pair", pair={"anyOf": [_ref("Pair"), {"type": "null"}]})
    place = {"type": "integer", "minimum": 0}
    gone = {"404": _answer("no such account in this run", _ref("Error"))}
    listed = {"total": _WHOLE, "offset": _WHOLE, "limit": _WHOLE}
    row = _object(
        "left right probability verdict",
        left=_ref("Account"),
        right=_ref("Account"),
        probability=_SHARE,
        decision={"enum": [*DECISIONS, None]},
        information=_maybe("number"),
        verdict=_VERDICT,
        mine=_FLAG,
    )
    logged = _object(" ".join(_ENTRY), **_ENTRY, accounts=_PLACES, standing=_FLAG)
    found = _object(
        "account id degree known partner",
        **_ACCOUNT,
        known=_FLAG,
        partner={"anyOf": [_ref("Account"), {"type": "null"}]},
        candidates=_WHOLE,
    )
    progress = _object(
        "target pairs precision_before precision_now more decided yes no queue mine entries head reviewers agreement",
        target=_SHARE,
        pairs=_WHOLE,
        precision_before=_SHARE,
        precision_now=_SHARE,
        more=_maybe("integer"),
        **dict.fromkeys("decided yes no queue mine entries".split(), _WHOLE),
        head=_TEXT,
        said_and_found=_list({"type": "object"}),
        reviewers=_list({"type": "object"}),
        agreement=_list({"type": "object"}),
    )
    undone = _object("entry accounts", entry={"anyOf": [_ref("Entry"), {"type": "null"}]}, accounts=_PLACES)
    session = _object("csrf reviewer run name", csrf=_TEXT, reviewer=_maybe("string"), run=_TEXT, name=_TEXT)
    return {
        "/api/session": _get("Who is asking about which run, and the CSRF token for writes", session),
        "/api/next": _get(
            "The most informative pair that passes the filters",
            one,
            [*_FILTERS, _BLIND, _parameter("after", place, "skip: the next one behind this left account's place")],
        ),
        "/api/pair": _get(
            "One pair with its evidence",
            one,
            [
                _parameter("left", place, "left account", True),
                _parameter("right", place, "right account", True),
                _BLIND,
            ],
            **gone,
        ),
        "/api/queue": _get(
            "The queue, a page at a time",
            _object("total pairs", **listed, pairs=_list(row)),
            [*_FILTERS, _BLIND, *_PAGE],
        ),
        "/api/history": _get(
            "Who decided what and when, newest first",
            _object(
                "total entries contradictions head",
                **listed,
                entries=_list(logged),
                contradictions=_list({"type": "object"}),
                head=_TEXT,
            ),
            [_parameter("reviewer", _TEXT, "only this one's"), _parameter("q", _TEXT, "part of an id or note"), *_PAGE],
        ),
        "/api/progress": _get(
            "Towards the target precision, and how far reviewers agree",
            progress,
            [_parameter("target", {"type": "number", "minimum": 0.01, "maximum": 0.9999}, "another target")],
        ),
        "/api/search": _get(
            "Accounts of either side by a part of their id",
            _object("text left right", text=_TEXT, left=_list(found), right=_list(found)),
            [_parameter("q", {"type": "string", "minLength": 1}, "part of an id", True)],
        ),
        "/api/openapi.json": _get("This document", {"type": "object"}),
        "/api/reviewer": _post(
            "Say who decides", "ReviewerBody", {"200": _answer("ok", _object("reviewer", reviewer=_TEXT))}
        ),
        "/api/decisions": _post(
            "Decide a pair; it is on the disk when the answer comes",
            "DecisionBody",
            {
                "201": _answer("recorded", _object("entry", entry=_ref("Entry"))),
                "404": _answer("no such account in this run", _ref("Error")),
                "409": _answer("another tab was first, or an account would be confirmed twice", _ref("Error")),
            },
        ),
        "/api/undo": _post(
            "Take a decision back",
            "UndoBody",
            {
                "200": _answer("nothing is left to undo", undone),
                "201": _answer("recorded", undone),
                "409": _answer("not yours, or undone already", _ref("Error")),
            },
        ),
    }


def document() -> dict[str, Any]:
    """The document, OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kedge review",
            "version": __version__,
            "description": "Decide uncertain pairs of a run. Every page of the app is made from these answers.",
        },
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "kedge", "description": "kedge-PORT in fact"},
                "csrf": {"type": "apiKey", "in": "header", "name": CSRF_HEADER},
            },
        },
        "security": [{"session": []}],
    }
