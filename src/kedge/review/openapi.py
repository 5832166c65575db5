"""Every address of the review app's JSON, and the OpenAPI document that is made from them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kedge import __version__
from kedge.review import requests, responses
from kedge.review.guard import CSRF_HEADER
from kedge.review.handlers import Review

_STATUS: Final = {
    200: "ok",
    201: "recorded",
    401: "no session: open the link that was printed",
    403: "another site, no CSRF token, or no reviewer named",
    404: "no such account in this run",
    409: "another tab was first, an account would be confirmed twice, the decision is not yours to undo, the name is "
    "another session's, a key was used for another request, the pair is not in the sample of an audit, or the run was "
    "replaced",
    413: "too large",
    415: "not JSON",
    422: "a parameter is wrong",
    503: "the log cannot be written now",
}


@dataclass(frozen=True)
class Endpoint:
    """An address: who answers it, with what, and with which status. One with a `body` is a write."""

    path: str
    handler: Callable[[Review, Request], Awaitable[Response]]
    answer: Any
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    status: tuple[int, ...] = (200,)

    @property
    def method(self) -> str:
        """GET or POST."""
        return "GET" if self.body is None else "POST"


async def _openapi(_review: Review, _request: Request) -> Response:
    """This document."""
    return JSONResponse(document())


ENDPOINTS: Final = (
    Endpoint("/api/session", Review.session, responses.Session),
    Endpoint("/api/next", Review.next_pair, responses.OnePair, query=requests.NextQuery),
    Endpoint("/api/pair", Review.pair, responses.OnePair, query=requests.PairQuery, status=(200, 404)),
    Endpoint("/api/queue", Review.queue, responses.Queue, query=requests.QueueQuery),
    Endpoint("/api/history", Review.history, responses.History, query=requests.HistoryQuery),
    Endpoint("/api/progress", Review.progress, responses.Progress, query=requests.ProgressQuery),
    Endpoint("/api/search", Review.search, responses.Found, query=requests.SearchQuery),
    Endpoint("/api/openapi.json", _openapi, dict[str, Any]),
    Endpoint("/api/reviewer", Review.set_reviewer, responses.Reviewer, body=requests.ReviewerBody),
    Endpoint("/api/decisions", Review.decide, responses.Decided, body=requests.DecisionBody, status=(201, 404)),
    Endpoint("/api/undo", Review.undo, responses.Undone, body=requests.UndoBody, status=(200, 201)),
)


def _json(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _operation(endpoint: Endpoint, schemas: dict[Any, Any]) -> dict[str, Any]:
    refusals = (401, 409) if endpoint.body is None else (401, 403, 409, 413, 415, 503)
    wrong = (422,) if endpoint.body or endpoint.query else ()
    operation: dict[str, Any] = {
        "summary": str(endpoint.handler.__doc__).partition("\n")[0],
        "responses": {
            str(code): {
                "description": _STATUS[code],
                **_json(schemas[endpoint.answer if code < 300 else responses.Error, "validation"]),
            }
            for code in (*endpoint.status, *refusals, *wrong)
        },
    }
    if endpoint.query is not None:
        required = endpoint.query.model_json_schema().get("required", ())
        operation["parameters"] = [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in requests.parameters(endpoint.query).items()
        ]
    if endpoint.body is not None:
        operation["security"] = [{"session": [], "csrf": []}]
        operation["requestBody"] = {"required": True, **_json(schemas[endpoint.body, "validation"])}
    return operation


def document() -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    kinds = [responses.Error, *dict.fromkeys(e.answer for e in ENDPOINTS), *(e.body for e in ENDPOINTS if e.body)]
    schemas, named = TypeAdapter.json_schemas(
        [(kind, "validation", TypeAdapter(kind)) for kind in kinds], ref_template="#/components/schemas/{model}"
    )
    for schema in named["$defs"].values():
        schema.setdefault("additionalProperties", False)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kedge review",
            "version": __version__,
            "description": "Decide uncertain pairs of a run. Every page of the app is made from these answers.",
        },
        "paths": {e.path: {e.method.lower(): _operation(e, schemas)} for e in ENDPOINTS},
        "components": {
            "schemas": named["$defs"],
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "kedge", "description": "kedge-PORT in fact"},
                "csrf": {"type": "apiKey", "in": "header", "name": CSRF_HEADER},
            },
        },
        "security": [{"session": []}],
    }
