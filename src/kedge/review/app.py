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

from kedge.errors import KedgeError
from kedge.review.data import ReviewData
from kedge.review.guard import Access, Guard, TooLarge
from kedge.review.handlers import Contradicted, Review
from kedge.review.openapi import ENDPOINTS
from kedge.review.queue import ReviewQueue
from kedge.review.responses import Error
from kedge.store.decisions import Conflict, DecisionLog, UnsavedError

PAGES: Final = ("/", "/queue", "/history", "/progress")


def create_app(data: ReviewData, decisions: DecisionLog, access: Access, reviewer: str | None = None) -> ASGIApp:
    """The app behind its guard. `reviewer` decides in every session that names no other."""
    review = Review(ReviewQueue(data, decisions), access, reviewer)
    routes = [Route(path, review.page, methods=["GET"]) for path in PAGES]
    routes.append(Route("/static/{name}", review.asset, methods=["GET"]))
    routes += [Route(e.path, partial(e.handler, review), methods=[e.method]) for e in ENDPOINTS]
    handlers = {
        HTTPException: _as_json,
        Conflict: _conflict,
        Contradicted: _contradicted,
        TooLarge: _too_large,
        UnsavedError: _unsaved,
        KedgeError: _replaced,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    app.router.redirect_slashes = False
    return Guard(app, access)


async def _as_json(_request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)


async def _conflict(_request: Request, error: Conflict) -> Response:
    return JSONResponse({"error": str(error), "conflict": True}, 409)


async def _contradicted(_request: Request, error: Contradicted) -> Response:
    return JSONResponse(Error(error="an account would be confirmed twice", contradiction=error.warnings), 409)


async def _unsaved(_request: Request, error: UnsavedError) -> Response:
    return JSONResponse({"error": str(error)}, 503)


async def _replaced(_request: Request, error: KedgeError) -> Response:
    """The run or its log is not what was opened: the page shows it until the server is started anew."""
    return JSONResponse({"error": str(error), "replaced": True}, 409)


async def _too_large(_request: Request, _error: TooLarge) -> Response:
    return JSONResponse({"error": "the request is too large"}, 413, headers={"connection": "close"})
