"""What the app answers: from a request to the queue and back as JSON. No parameter of a request reaches the disk."""

from __future__ import annotations

from importlib import resources
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kedge import __version__
from kedge.review import requests, responses
from kedge.review.guard import Access
from kedge.review.queue import ReviewQueue
from kedge.review.requests import read_body, read_query
from kedge.review.reviewers import Reviewers
from kedge.review.views import entry_view, history_view, pair_view, queue_view, search_view

_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def _read_assets() -> dict[str, tuple[bytes, str]]:
    """Every file of the package's `static` folder, read once: a request can only name one of these."""
    files = {file.name: file for file in (resources.files("kedge.review") / "static").iterdir()}
    kinds = {name: _TYPES.get(name.rpartition(".")[2]) for name in files}
    return {name: (files[name].read_bytes(), kind) for name, kind in kinds.items() if kind is not None}


class Contradicted(Exception):  # noqa: N818 (a signal to the app, which answers with 409)
    """A yes that goes against what is known."""

    def __init__(self, warnings: list[responses.Warning]) -> None:
        super().__init__("an account would be confirmed twice")
        self.warnings = warnings


class Review:
    """The handlers. They run one after the other in one thread, so the queue needs no locks."""

    def __init__(self, queue: ReviewQueue, access: Access, reviewer: str | None) -> None:
        self._queue = queue
        self._access = access
        self._reviewers = Reviewers(access, reviewer)
        self._assets = _read_assets()

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

    async def session(self, request: Request) -> Response:
        """The run, the reviewer, and the CSRF token for writes."""
        data = self._queue.data
        self._queue.sync()
        answer: responses.Session = {
            "csrf": self._access.csrf(request.scope["session_cookie"]),
            "reviewer": self._who(request),
            "reviewers": self._queue.log.state.reviewers,
            "run": data.run_id,
            "name": data.name,
            "method": data.config.method,
            "accounts": (data.problem.left.n, data.problem.right.n),
            "anchors": len(data.problem.anchors),
            "target": data.config.decide.precision,
            "version": __version__,
            "audit": data.audit,
        }
        return JSONResponse(answer)

    async def set_reviewer(self, request: Request) -> Response:
        """Name who decides in this session; a cookie remembers it for the next one."""
        body = await read_body(request, requests.ReviewerBody)
        if not self._reviewers.claim(request, body.name):
            raise HTTPException(409, f"another browser decides as {body.name} now: choose another name")
        answer = JSONResponse(responses.Reviewer(reviewer=body.name))
        self._reviewers.remember(answer, body.name)
        return answer

    async def next_pair(self, request: Request) -> Response:
        """The most informative pair that passes the filters."""
        query = read_query(request, requests.NextQuery)
        self._queue.sync()
        who = self._who(request) or ""
        found = self._queue.next_pair(who, query, query.after)
        pair = None if found is None else pair_view(self._queue, *found, who, query.blind)
        return JSONResponse(responses.OnePair(pair=pair))

    async def pair(self, request: Request) -> Response:
        """One pair with its evidence."""
        query = read_query(request, requests.PairQuery)
        self._queue.sync()
        self._check(query.left, query.right)
        pair = pair_view(self._queue, query.left, query.right, self._who(request) or "", query.blind)
        return JSONResponse(responses.OnePair(pair=pair))

    async def queue(self, request: Request) -> Response:
        """A page of the queue, the most informative pairs first."""
        query = read_query(request, requests.QueueQuery)
        self._queue.sync()
        return JSONResponse(queue_view(self._queue, self._who(request) or "", query))

    async def history(self, request: Request) -> Response:
        """Who decided what and when, newest first."""
        query = read_query(request, requests.HistoryQuery)
        self._queue.sync()
        reviewer = (self._who(request) or "") if query.blind else query.reviewer or None
        return JSONResponse(history_view(self._queue, reviewer, query))

    async def progress(self, request: Request) -> Response:
        """How far the expected precision is from its target, and how far reviewers agree."""
        query = read_query(request, requests.ProgressQuery)
        self._queue.sync()
        return JSONResponse(self._queue.progress(self._who(request) or "", query.target))

    async def search(self, request: Request) -> Response:
        """Accounts of either side by a part of their id."""
        return JSONResponse(search_view(self._queue, read_query(request, requests.SearchQuery).text))

    async def decide(self, request: Request) -> Response:
        """Decide a pair; it is on the disk when the answer comes."""
        body = await read_body(request, requests.DecisionBody)
        who = self._named(request)
        self._check(body.left, body.right)
        data, log = self._queue.data, self._queue.log
        if body.run != data.run_id:
            raise HTTPException(409, "the run was matched again: reload the page")
        if not self._queue.is_asked(body.left, body.right):
            raise HTTPException(409, "this pair is not in the sample of the audit")
        self._queue.sync()
        left, right = self._queue.pair(body.left, body.right)

        def check() -> None:
            # Within the log's transaction: another server may have confirmed one of the two a moment ago.
            warnings = self._queue.warnings(body.left, body.right) if body.verdict == "yes" else []
            if warnings and not body.despite:
                raise Contradicted(warnings)

        more = {"note": body.note, "run": data.run_id, "key": body.key}
        entry = log.append(who, body.verdict, left, right, **more, seen=body.seen, check=check)
        self._queue.sync()
        return JSONResponse(responses.Decided(entry=entry_view(entry, log.state.undone.get(entry.seq))), 201)

    async def undo(self, request: Request) -> Response:
        """Take a decision back; the log keeps both."""
        body = await read_body(request, requests.UndoBody)
        who = self._named(request)
        self._queue.sync()
        entry = self._queue.log.undo(who, body.seq, run=self._queue.data.run_id, key=body.key)
        self._queue.sync()
        if entry is None:
            return JSONResponse(responses.Undone(entry=None, accounts=None))
        found = self._queue.accounts(entry.pair)
        accounts = None if found is None else responses.Accounts(left=found[0], right=found[1])
        return JSONResponse(responses.Undone(entry=entry_view(entry, None), accounts=accounts), 201)

    def _who(self, request: Request) -> str | None:
        return self._reviewers.of(request)

    def _named(self, request: Request) -> str:
        who = self._who(request)
        if who is None:
            raise HTTPException(403, "give your name first")
        return who

    def _check(self, left: int, right: int) -> None:
        problem = self._queue.data.problem
        if left >= problem.left.n or right >= problem.right.n:
            raise HTTPException(404, "no such account in this run")
