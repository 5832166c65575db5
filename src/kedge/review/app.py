"""The review app: which request goes where, behind the guard."""

from __future__ import annotations

from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kedge.review.data import ReviewData
from kedge.review.guard import Access, Guard, TooLarge
from kedge.review.handlers import Review
from kedge.review.openapi import ENDPOINTS
from kedge.review.queue import ReviewQueue
from kedge.store import Conflict, DecisionLog

PAGES: Final = ("/", "/queue", "/history", "/progress")


def create_app(data: ReviewData, decisions: DecisionLog, access: Access, reviewer: str | None = None) -> ASGIApp:
    """The app behind its guard. `reviewer` decides until the browser names another."""
    review = Review(ReviewQueue(data, decisions), access, reviewer)
    routes = [Route(path, review.page, methods=["GET"]) for path in PAGES]
    routes.append(Route("/static/{name}", review.asset, methods=["GET"]))
    routes += [Route(e.path, partial(e.handler, review), methods=[e.method]) for e in ENDPOINTS]
    handlers = {HTTPException: _as_json, Conflict: _conflict, TooLarge: _too_large}
    app = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    app.router.redirect_slashes = False
    return Guard(app, access)


async def _as_json(_request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _conflict(_request: Request, error: Conflict) -> Response:
    return JSONResponse({"error": str(error), "conflict": True}, 409)


async def _too_large(_request: Request, _error: TooLarge) -> Response:
    return JSONResponse({"error": "the request is too large"}, 413, headers={"connection": "close"})
