"""What the app answers: from a request to the desk and back as JSON. No parameter of a request reaches the disk."""

from __future__ import annotations

from urllib.parse import quote, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kedge import __version__
from kedge.review.assets import read_assets
from kedge.review.bodies import DecisionBody, ReviewerBody, UndoBody
from kedge.review.desk import Desk
from kedge.review.guard import Keys
from kedge.review.openapi import document
from kedge.review.parameters import account, filters_of, flag, integer, number, page_of, read_body
from kedge.review.views import entry_view, history_view, pair_view, queue_view, search_view

__all__ = ["Review"]


class Review:
    """The handlers. They run one after the other in one thread, so the desk needs no locks."""

    def __init__(self, desk: Desk, keys: Keys, reviewer: str | None, cookie: str) -> None:
        self._desk = desk
        self._keys = keys
        self._reviewer = reviewer
        self._cookie = cookie
        self._assets = read_assets()

    async def page(self, _request: Request) -> Response:
        """The page of every route of the app; its script does the rest."""
        content, kind = self._assets["index.html"]
        return Response(content, media_type=kind)

    async def asset(self, request: Request) -> Response:
        """A style, a script or the icon."""
        found = self._assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found[0], media_type=found[1])

    async def openapi(self, _request: Request) -> Response:
        """What can be asked."""
        return JSONResponse(document())

    async def session(self, request: Request) -> Response:
        """Who is asking about which run, and the CSRF token."""
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
        """Remember in a cookie who decides."""
        body = await read_body(request, ReviewerBody)
        answer = JSONResponse({"reviewer": body.name})
        answer.set_cookie(
            self._cookie, quote(body.name), httponly=True, samesite="strict", path="/", max_age=365 * 24 * 3600
        )
        return answer

    async def next_pair(self, request: Request) -> Response:
        """The most informative pair."""
        self._desk.sync()
        who = self._who(request) or ""
        found = self._desk.next_pair(who, filters_of(request), integer(request, "after", None))
        blind = flag(request, "blind")
        pair = None if found is None else pair_view(self._desk, *found, who, blind)
        return JSONResponse({"pair": pair})

    async def pair(self, request: Request) -> Response:
        """One pair by its accounts."""
        self._desk.sync()
        left, right = account(request, "left"), account(request, "right")
        self._check(left, right)
        pair = pair_view(self._desk, left, right, self._who(request) or "", flag(request, "blind"))
        return JSONResponse({"pair": pair})

    async def queue(self, request: Request) -> Response:
        """A page of the queue."""
        self._desk.sync()
        who = self._who(request) or ""
        offset, limit = page_of(request)
        return JSONResponse(queue_view(self._desk, who, filters_of(request), offset, limit, flag(request, "blind")))

    async def history(self, request: Request) -> Response:
        """A page of the log."""
        self._desk.sync()
        offset, limit = page_of(request)
        text, blind = request.query_params.get("q", ""), flag(request, "blind")
        reviewer = (self._who(request) or "") if blind else request.query_params.get("reviewer") or None
        return JSONResponse(history_view(self._desk, reviewer, text, offset, limit, blind))

    async def progress(self, request: Request) -> Response:
        """How far the review has come."""
        self._desk.sync()
        target = number(request, "target", None, 0.01, 0.9999)
        return JSONResponse(self._desk.progress(self._who(request) or "", target))

    async def search(self, request: Request) -> Response:
        """Accounts by a part of their id."""
        text = request.query_params.get("q", "")
        if not text:
            raise HTTPException(422, "q is missing: a part of an account's id")
        return JSONResponse(search_view(self._desk, text))

    async def decide(self, request: Request) -> Response:
        """Record a verdict; a second partner for an account needs a second word."""
        body = await read_body(request, DecisionBody)
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
        """Record that a verdict is taken back."""
        body = await read_body(request, UndoBody)
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
