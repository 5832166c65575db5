"""The OpenAPI document of the review app: what every page can also be asked for as JSON."""

from __future__ import annotations

from typing import Any, Final

from kedge import __version__
from kedge.review.desk import STATUSES
from kedge.review.guard import CSRF_HEADER
from kedge.review.schemas import ref, schemas
from kedge.types import DECISIONS

__all__ = ["document"]

_TEXT: Final = {"type": "string"}


def _answer(words: str, schema: str) -> dict[str, Any]:
    return {"description": words, "content": {"application/json": {"schema": ref(schema)}}}


def _parameter(name: str, schema: Any, words: str, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": words}


_WHO = {"401": _answer("no session: open the link that was printed", "Error")}
_WRONG = {"422": _answer("a parameter is wrong", "Error")}
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


def _get(words: str, schema: str, parameters: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "get": {
            "summary": words,
            "parameters": parameters or [],
            "responses": {"200": _answer("ok", schema), **_WHO, **(_WRONG if parameters else {}), **more},
        }
    }


def _post(words: str, body: str, answers: dict[str, Any]) -> dict[str, Any]:
    refusals = {
        "403": _answer("another site, no CSRF token, or nobody named", "Error"),
        "413": _answer("too large", "Error"),
        "415": _answer("not JSON", "Error"),
    }
    return {
        "post": {
            "summary": words,
            "security": [{"session": [], "csrf": []}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": ref(body)}}},
            "responses": {**answers, **_WHO, **refusals, **_WRONG},
        }
    }


def _paths() -> dict[str, Any]:
    place = {"type": "integer", "minimum": 0}
    gone = {"404": _answer("no such account in this run", "Error")}
    return {
        "/api/session": _get("Who is asking about which run, and the CSRF token for writes", "Session"),
        "/api/next": _get(
            "The most informative pair that passes the filters",
            "OnePair",
            [*_FILTERS, _BLIND, _parameter("after", place, "skip: the next one behind this left account's place")],
        ),
        "/api/pair": _get(
            "One pair with its evidence",
            "OnePair",
            [
                _parameter("left", place, "left account", True),
                _parameter("right", place, "right account", True),
                _BLIND,
            ],
            **gone,
        ),
        "/api/queue": _get("The queue, a page at a time", "Queue", [*_FILTERS, _BLIND, *_PAGE]),
        "/api/history": _get(
            "Who decided what and when, newest first",
            "History",
            [
                _parameter("reviewer", _TEXT, "only this one's"),
                _parameter("q", _TEXT, "part of an id or note"),
                _BLIND,
                *_PAGE,
            ],
        ),
        "/api/progress": _get(
            "Towards the target precision, and how far reviewers agree",
            "Progress",
            [_parameter("target", {"type": "number", "minimum": 0.01, "maximum": 0.9999}, "another target")],
        ),
        "/api/search": _get(
            "Accounts of either side by a part of their id",
            "Found",
            [_parameter("q", {"type": "string", "minLength": 1}, "part of an id", True)],
        ),
        "/api/openapi.json": _get("This document", "Document"),
        "/api/reviewer": _post("Say who decides", "ReviewerBody", {"200": _answer("ok", "Reviewer")}),
        "/api/decisions": _post(
            "Decide a pair; it is on the disk when the answer comes",
            "DecisionBody",
            {
                "201": _answer("recorded", "Decided"),
                **gone,
                "409": _answer("another tab was first, or an account would be confirmed twice", "Error"),
            },
        ),
        "/api/undo": _post(
            "Take a decision back",
            "UndoBody",
            {
                "200": _answer("nothing is left to undo", "Undone"),
                "201": _answer("recorded", "Undone"),
                "409": _answer("not yours, or undone already", "Error"),
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
            "schemas": schemas(),
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "kedge", "description": "kedge-PORT in fact"},
                "csrf": {"type": "apiKey", "in": "header", "name": CSRF_HEADER},
            },
        },
        "security": [{"session": []}],
    }
