"""The review app: routes from requests to the desk and back as JSON. No parameter of a request reaches the disk."""

from __future__ import annotations

from collections.abc import Collection
from importlib import resources
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kedge import __version__
from kedge.review.bodies import DecisionBody, ReviewerBody, UndoBody
from kedge.review.data import ReviewData
from kedge.review.desk import STATUSES, Desk, Filters
from kedge.review.guard import Guard, Keys, TooLarge
from kedge.review.openapi import document
from kedge.review.views import entry_view, history_view, pair_view, queue_view, search_view
from kedge.store import Conflict, DecisionLog
from kedge.types import DECISIONS

__all__ = ["PAGES", "create_app"]

Body = TypeVar("Body", bound=BaseModel)
PAGES: Final = ("/", "/queue", "/history", "/progress")
_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def _assets() -> dict[str, tuple[bytes, str]]:
    """Every file of the package's `static` folder, read once: a request can only name one of these."""
    folder = resources.files("kedge.review") / "static"
    return {
        file.name: (file.read_bytes(), _TYPES[file.name.rpartition(".")[2]])
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }


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
    review = _Review(Desk(data, decisions), keys, reviewer, f"{cookie}-reviewer")
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


class _Review:
    """The handlers. They run one after the other in one thread, so the desk needs no locks."""

    def __init__(self, desk: Desk, keys: Keys, reviewer: str | None, cookie: str) -> None:
        self._desk = desk
        self._keys = keys
        self._reviewer = reviewer
        self._cookie = cookie
        self._assets = _assets()

    async def page(self, _request: Request) -> Response:
        content, kind = self._assets["index.html"]
        return Response(content, media_type=kind)

    async def asset(self, request: Request) -> Response:
        found = self._assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found[0], media_type=found[1])

    async def openapi(self, _request: Request) -> Response:
        return JSONResponse(document())

    async def session(self, request: Request) -> Response:
        data = self._desk.data
        self._desk.sync()
        return JSONResponse(
            {
                "csrf": self._keys.csrf(request.scope["session_cookie"]),
                "reviewer": self._who(request),
                "reviewers": self._desk.log.state.reviewers,
                "run": data.run_id,
                "name": data.name,
                "method": data.config.method,
                "accounts": [data.problem.left.n, data.problem.right.n],
                "anchors": len(data.problem.anchors),
                "target": data.config.decide.precision,
                "version": __version__,
            }
        )

    async def set_reviewer(self, request: Request) -> Response:
        body = await _read(request, ReviewerBody)
        answer = JSONResponse({"reviewer": body.name})
        answer.set_cookie(
            self._cookie, quote(body.name), httponly=True, samesite="strict", path="/", max_age=365 * 24 * 3600
        )
        return answer

    async def next_pair(self, request: Request) -> Response:
        self._desk.sync()
        who = self._who(request) or ""
        found = self._desk.next_pair(who, _filters(request), _integer(request, "after", None))
        blind = _flag(request, "blind")
        pair = None if found is None else pair_view(self._desk, *found, who, blind)
        return JSONResponse({"pair": pair})

    async def pair(self, request: Request) -> Response:
        self._desk.sync()
        left, right = _account(request, "left"), _account(request, "right")
        self._check(left, right)
        pair = pair_view(self._desk, left, right, self._who(request) or "", _flag(request, "blind"))
        return JSONResponse({"pair": pair})

    async def queue(self, request: Request) -> Response:
        self._desk.sync()
        who = self._who(request) or ""
        offset, limit = _page(request)
        return JSONResponse(queue_view(self._desk, who, _filters(request), offset, limit, _flag(request, "blind")))

    async def history(self, request: Request) -> Response:
        self._desk.sync()
        offset, limit = _page(request)
        reviewer = request.query_params.get("reviewer") or None
        return JSONResponse(history_view(self._desk, reviewer, request.query_params.get("q", ""), offset, limit))

    async def progress(self, request: Request) -> Response:
        self._desk.sync()
        target = _number(request, "target", None, 0.01, 0.9999)
        return JSONResponse(self._desk.progress(self._who(request) or "", target))

    async def search(self, request: Request) -> Response:
        text = request.query_params.get("q", "")
        if not text:
            raise HTTPException(422, "q is missing: a part of an account's id")
        return JSONResponse(search_view(self._desk, text))

    async def decide(self, request: Request) -> Response:
        body = await _read(request, DecisionBody)
        who = self._named(request)
        self._check(body.left, body.right)
        data, log = self._desk.data, self._desk.log
        if body.run != data.run_id:
            raise HTTPException(409, "the run was matched again: reload the page")
        self._desk.sync()
        left, right = self._desk.pair(body.left, body.right)
        repeated = log.state.by_key.get(body.key)
        if repeated is None and body.verdict == "yes" and not body.despite:
            warnings = self._desk.warnings(body.left, body.right)
            if warnings:
                words = "an account would be confirmed twice"
                return JSONResponse({"error": words, "contradiction": warnings}, 409)
        entry = log.append(
            who, body.verdict, left, right, note=body.note, run=data.run_id, key=body.key, seen=body.seen
        )
        self._desk.sync()
        return JSONResponse({"entry": entry_view(entry, log.state.undone.get(entry.seq))}, 201)

    async def undo(self, request: Request) -> Response:
        body = await _read(request, UndoBody)
        who = self._named(request)
        log = self._desk.log
        entry = log.undo(who, body.seq, run=self._desk.data.run_id, key=body.key)
        self._desk.sync()
        if entry is None:
            return JSONResponse({"entry": None, "accounts": None})
        accounts = self._desk.accounts(entry.pair)
        return JSONResponse(
            {
                "entry": entry_view(entry, None),
                "accounts": None if accounts is None else {"left": accounts[0], "right": accounts[1]},
            },
            201,
        )

    def _who(self, request: Request) -> str | None:
        raw = request.cookies.get(self._cookie)
        if raw is None:
            return self._reviewer
        try:
            return ReviewerBody(name=unquote(raw, errors="strict")).name
        except ValueError:  # a cookie that we did not set
            return self._reviewer

    def _named(self, request: Request) -> str:
        who = self._who(request)
        if who is None:
            raise HTTPException(403, "say who you are first")
        return who

    def _check(self, left: int, right: int) -> None:
        problem = self._desk.data.problem
        if left >= problem.left.n or right >= problem.right.n:
            raise HTTPException(404, "no such account in this run")


async def _read(request: Request, kind: type[Body]) -> Body:
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise HTTPException(422, f"{place or 'body'}: {first['msg']}") from None


def _flag(request: Request, name: str) -> bool:
    value = request.query_params.get(name, "0")
    if value not in ("0", "1", "true", "false"):
        raise HTTPException(422, f"{name} is 0 or 1")
    return value in ("1", "true")


def _integer(request: Request, name: str, default: int | None, high: int = 2**53) -> int | None:
    value = request.query_params.get(name)
    if value is None:
        return default
    # isdecimal alone would let other scripts' digits through.
    if not (value.isascii() and value.isdecimal() and len(value) <= 16 and int(value) < high):
        raise HTTPException(422, f"{name} is a number from 0")
    return int(value)


def _account(request: Request, name: str) -> int:
    value = _integer(request, name, None)
    if value is None:
        raise HTTPException(422, f"{name} is missing")
    return value


def _number(request: Request, name: str, default: Any, low: float, high: float) -> Any:
    value = request.query_params.get(name)
    if value is None:
        return default
    try:
        number = float(value)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise HTTPException(422, f"{name} is a number from {low:g} to {high:g}")
    return number


def _page(request: Request) -> tuple[int, int]:
    limit = _integer(request, "limit", 50)
    return _integer(request, "offset", 0) or 0, min(50 if limit is None else limit, 200)


def _filters(request: Request) -> Filters:
    status = request.query_params.get("status", "open")
    decision = request.query_params.get("decision") or None
    if status not in STATUSES:
        raise HTTPException(422, f"status is one of {', '.join(STATUSES)}")
    if decision is not None and decision not in DECISIONS:
        raise HTTPException(422, f"decision is one of {', '.join(DECISIONS)}")
    return Filters(
        status=status,
        decision=decision,
        least=_number(request, "least", 0.0, 0.0, 1.0),
        most=_number(request, "most", 1.0, 0.0, 1.0),
        text=request.query_params.get("q", ""),
    )
