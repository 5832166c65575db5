"""Which requests the review server accepts: each one passes here first.

The server listens on this machine only, but any web page that the analyst visits can send requests to it. Hence: the
Host header must be one of ours (DNS rebinding), an Origin header too (cross-site requests, also the opaque `null`), a
session cookie that is never sent across sites, and for writes a token that only our own page can read.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY: Final = 16 * 1024
CSRF_HEADER: Final = "x-kedge-csrf"
HANDOVER: Final = "/open"
_GO_ON: Final = (
    '<!doctype html><html lang="en"><title>kedge review</title><meta http-equiv="refresh" content="0;url=/">'
    '<p><a href="/">Go on to the review</a></p></html>'
)
_UNSAFE: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


def hosts_of(host: str, port: int) -> frozenset[str]:
    """The Host headers that mean this server."""
    bracketed = f"[{host}]" if ":" in host else host
    names = {bracketed.lower()}
    if host in ("127.0.0.1", "::1", "localhost"):
        names |= {"127.0.0.1", "localhost", "[::1]"}
    # Browsers leave out the default port.
    return frozenset({f"{name}:{port}" for name in names} | ({*names} if port == 80 else set()))


@dataclass(frozen=True)
class Access:
    """One start of the server: its Host headers, the name of its cookie, and secrets that are never stored."""

    hosts: frozenset[str]
    cookie: str = "kedge"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    is_handover: Callable[[str], bool] = lambda _token: False  # whether a token is the one that works once

    def new_session(self) -> str:
        """A cookie value: a random name and its signature."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self.sign('session', name)}"

    def is_session(self, cookie: str) -> bool:
        """Whether a cookie value has our signature."""
        name, _, signature = cookie.rpartition(".")
        return bool(name) and hmac.compare_digest(signature.encode(), self.sign("session", name).encode())

    def csrf(self, cookie: str) -> str:
        """The token that writes of this session must carry."""
        return self.sign("csrf", cookie)

    def sign(self, purpose: str, text: str) -> str:
        """A signature that only this start of the server can make."""
        return hmac.new(self.secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()


class TooLarge(Exception):  # noqa: N818 (a signal to the app, which answers with 413)
    """More of a body came than was allowed."""


class Guard:
    """The outermost layer of the app; puts the session's cookie into `scope["session_cookie"]`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._origins = frozenset(f"http://{host}" for host in access.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, exchange the token for a cookie, or pass on."""
        if scope["type"] != "http":
            return  # no websockets; uvicorn closes what is not answered
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                outgoing = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    outgoing[name] = value
            await send(message)

        answer = self._answer(scope, headers)
        if answer is not None:
            await answer(scope, receive, send_guarded)
            return
        sent = 0

        async def receive_limited() -> Message:
            nonlocal sent
            message = await receive()
            sent += len(message.get("body", b""))
            if sent > MAX_BODY:
                raise TooLarge
            return message

        await self._app(scope, receive_limited, send_guarded)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal or the exchange; None where the request may pass."""
        if [host.lower() for host in headers.getlist("host")] not in [[host] for host in self._access.hosts]:
            return _refusal(421, "this server does not answer to that host name")
        unsafe = scope["method"] in _UNSAFE
        origins = headers.getlist("origin")
        if (origins or unsafe) and not (len(origins) == 1 and origins[0] in self._origins):
            return _refusal(403, "requests from other sites are refused")
        if not (headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) <= MAX_BODY):
            return _refusal(413, "the request is too large")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] in ("/", HANDOVER) and scope["method"] == "GET" and given:
            return self._exchange(given, scope["path"] == HANDOVER)
        cookie = self._session(headers)
        if cookie is None:
            return _refusal(401, "open the link that `kedge review` printed", plain=not _is_api(scope))
        if unsafe and not hmac.compare_digest(
            headers.get(CSRF_HEADER, "").encode(), self._access.csrf(cookie).encode()
        ):
            return _refusal(403, "the CSRF token is missing or wrong: reload the page")
        if unsafe and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refusal(415, "send application/json")
        scope["session_cookie"] = cookie
        return None

    def _exchange(self, given: list[str], handover: bool) -> Response:
        if handover:
            valid = len(given) == 1 and self._access.is_handover(given[0])
        else:
            valid = len(given) == 1 and hmac.compare_digest(given[0].encode(), self._access.token.encode())
        if not valid:
            return _refusal(
                401, "this link is not valid (any more): open the one that `kedge review` printed", plain=True
            )
        # The token does not stay in the address bar. After a redirect from a file the browser would still count the
        # request as another site's and leave out the cookie; a page of ours that goes on is our own site.
        answer = HTMLResponse(_GO_ON) if handover else RedirectResponse("/", 303)
        answer.set_cookie(self._access.cookie, self._access.new_session(), httponly=True, samesite="strict", path="/")
        return answer

    def _session(self, headers: Headers) -> str | None:
        try:
            jar = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        morsel = jar.get(self._access.cookie)
        return morsel.value if morsel is not None and self._access.is_session(morsel.value) else None


def _is_api(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/")


def _refusal(status: int, words: str, plain: bool = False) -> Response:
    return PlainTextResponse(f"kedge: {words}\n", status) if plain else JSONResponse({"error": words}, status)
