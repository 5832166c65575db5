"""Who decides in a session. The server knows it; no cookie, header or body of a later request can say otherwise.

A name is no proof of who someone is: whoever has the link may take a name that is free. But while a session has a name,
no other session gets it, so decisions cannot be filed under the name of a reviewer who is at work. After some minutes
without a request the name is free again. A browser that lost its session, by being closed, keeps a signed cookie with
its name and gets it back at once.
"""

from __future__ import annotations

import hmac
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from kedge.review.guard import Access
from kedge.review.requests import ReviewerBody

_IDLE_SECONDS: Final = 600.0
_SESSIONS: Final = 1000  # the oldest is dropped: it is asked for its name again


class Reviewers:
    """The names of all sessions; `default` decides in every session that named no other."""

    def __init__(self, access: Access, default: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._cookie = f"{access.cookie}-reviewer"
        self._default = default
        self._clock = clock
        self._names: OrderedDict[str, tuple[str, float]] = OrderedDict()  # by session: name, time of last request

    def of(self, request: Request) -> str | None:
        """The name of a request's session; a new session gets the one that its browser remembers, if it is free."""
        session = request.scope["session_cookie"]
        if session in self._names:
            name = self._names[session][0]
            self._bind(session, name)
            return name
        remembered, proven = self._remembered(request)
        if remembered is not None and self.claim(request, remembered, proven):
            return remembered
        return self._default

    def claim(self, request: Request, name: str, proven: bool = False) -> bool:
        """Give a name to a request's session; False where another session has it."""
        session, wanted = request.scope["session_cookie"], _same(name)
        others = [one for one, (taken, _) in self._names.items() if _same(taken) == wanted and one != session]
        if not proven and any(self._clock() - self._names[one][1] < _IDLE_SECONDS for one in others):
            return False
        for other in others:
            del self._names[other]
        self._bind(session, name)
        return True

    def remember(self, answer: Response, name: str) -> None:
        """Let the browser have this name in its next session; after a restart the signature no longer counts."""
        value, age = f"{quote(name)}!{self._access.sign('reviewer', name)}", 365 * 24 * 3600
        answer.set_cookie(self._cookie, value, httponly=True, samesite="strict", path="/", max_age=age)

    def _bind(self, session: str, name: str) -> None:
        self._names[session] = (name, self._clock())
        self._names.move_to_end(session)
        if len(self._names) > _SESSIONS:
            self._names.popitem(last=False)

    def _remembered(self, request: Request) -> tuple[str | None, bool]:
        """The name in the browser's cookie, and whether this server gave it that name."""
        quoted, _, signature = request.cookies.get(self._cookie, "").partition("!")
        try:
            name = ReviewerBody(name=unquote(quoted, errors="strict")).name
        except ValueError:  # a cookie that we did not set
            return None, False
        return name, hmac.compare_digest(signature.encode(), self._access.sign("reviewer", name).encode())


def _same(name: str) -> str:
    """Names that differ only in case or width are one name."""
    return unicodedata.normalize("NFKC", name).casefold()
