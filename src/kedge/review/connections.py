"""Connections that cannot block others: each has little time for its request, and those that wait make room.

A connection waits while it has not sent a whole request head: a browser's between two requests, or an attacker's that
sends none, or one byte at a time. When there are too many waiting ones, of one client or of all, the oldest is closed,
first among those that never sent a request. A new connection is the last to be closed, so whoever sends a request at
once is served. The limits are this large because a waiting connection costs little but its file descriptor, of which
many systems allow 1,024, and because a burst of new connections smaller than the limit closes no other new one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

WAIT_SECONDS: Final = 10.0  # for a request head, from the connection or from the answer before
ANSWER_SECONDS: Final = 30.0  # for the body and for reading the answer: both are small
PER_CLIENT: Final = 512
IN_ALL: Final = 768
HEAD_BYTES: Final = 32 * 1024  # of an unfinished request head

_Waiting = OrderedDict["Connection", str]


class Connection(H11Protocol):
    """One connection; those of one server share `server_state`, and with it the table of waiting ones."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._busy_with: object = None  # the request that is being answered
        self.served = False  # whether it has sent a request before
        self._timer: asyncio.TimerHandle | None = None
        # The oldest first; an attribute of the server, because connections have nothing else in common.
        state: Any = self.server_state
        if not hasattr(state, "waiting"):
            state.waiting = OrderedDict()
        self._waiting: _Waiting = state.waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A byte is no reason for more time; a whole request head is."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait again, unless the next request was sent already."""
        super().on_response_complete()
        self._busy_with, self.served = None, True
        self._look()
        if self._busy_with is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._leave()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and cycle is not self._busy_with:
            self._leave()
            self._busy_with = cycle
            self._timer = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def _wait(self) -> None:
        self._leave()
        if self.transport.is_closing():
            return
        client = self.client[0] if self.client else ""
        self._waiting[self] = client
        self._timer = self.loop.call_later(WAIT_SECONDS, self.transport.abort)
        same = [one for one, other in self._waiting.items() if other == client]
        if len(same) > PER_CLIENT:
            _close_one(same)
        elif len(self._waiting) > IN_ALL:
            _close_one(list(self._waiting))

    def drop(self) -> None:
        """Close it to make room."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _close_one(waiting: list[Connection]) -> None:
    next((one for one in waiting if not one.served), waiting[0]).drop()
