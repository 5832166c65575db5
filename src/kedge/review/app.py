"""The review app: which request goes where, behind the guard."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kedge.review.data import ReviewData
from kedge.review.desk import Desk
from kedge.review.guard import Guard, Keys, TooLarge
from kedge.review.handlers import Review
from kedge.store import Conflict, DecisionLog

__all__ = ["PAGES", "create_app"]

PAGES: Final = ("/", "/queue", "/history", "/progress")


def create_app(
    data: ReviewData,
    decisions: DecisionLog,
    keys: Keys,
    hosts: Collection[str],
    *,
    reviewer: str | None = None,
    cookie: str = "kedge",
) -> ASGIApp:
    """The app behind its guard. `reviewer` is who decides until the browser says otherwise."""
    review = Review(Desk(data, decisions), keys, reviewer, f"{cookie}-reviewer")
    routes = [Route(path, review.page, methods=["GET"]) for path in PAGES]
    routes += [
        Route("/static/{name}", review.asset, methods=["GET"]),
        Route("/api/session", review.session, methods=["GET"]),
        Route("/api/reviewer", review.set_reviewer, methods=["POST"]),
        Route("/api/next", review.next_pair, methods=["GET"]),
        Route("/api/pair", review.pair, methods=["GET"]),
        Route("/api/queue", review.queue, methods=["GET"]),
        Route("/api/history", review.history, methods=["GET"]),
        Route("/api/progress", review.progress, methods=["GET"]),
        Route("/api/search", review.search, methods=["GET"]),
        Route("/api/decisions", review.decide, methods=["POST"]),
        Route("/api/undo", review.undo, methods=["POST"]),
        Route("/api/openapi.json", review.openapi, methods=["GET"]),
    ]
    handlers = {HTTPException: _as_json, Conflict: _conflict, TooLarge: _too_large}
    app = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    app.router.redirect_slashes = False
    return Guard(app, keys, hosts, cookie)


async def _as_json(_request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _conflict(_request: Request, error: Conflict) -> Response:
    return JSONResponse({"error": str(error), "conflict": True}, 409)


async def _too_large(_request: Request, _error: TooLarge) -> Response:
    return JSONResponse({"error": "the request is too large"}, 413, headers={"connection": "close"})
