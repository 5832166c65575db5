"""Connections that send no request do not block those that do."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from kedge.review.connections import IN_ALL, PER_CLIENT, Connection


class Wire:
    """A transport without a network."""

    def __init__(self, client: str) -> None:
        self.client, self.closed, self.sent = client, False, b""

    def get_extra_info(self, name: str) -> Any:
        return {"peername": (self.client, 1), "sockname": ("127.0.0.1", 2)}.get(name)

    def abort(self) -> None:
        self.closed = True

    close = abort

    def is_closing(self) -> bool:
        return self.closed

    def write(self, data: bytes) -> None:
        self.sent += data

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def test_half_open_connections_make_room_and_get_no_more_time() -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def attack() -> None:
        config = uvicorn.Config(app, http=Connection, lifespan="off", log_level="critical")
        config.load()
        state = ServerState()

        def connect(client: str) -> tuple[Connection, Wire]:
            made, wire = Connection(config=config, server_state=state, app_state={}), Wire(client)
            made.connection_made(wire)
            return made, wire

        reviewer, kept = connect("127.0.0.1")
        reviewer.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert kept.sent.startswith(b"HTTP/1.1 204")
        slow = [connect("127.0.0.1") for _ in range(2 * PER_CLIENT)]
        assert [wire.closed for _, wire in slow] == [True] * (PER_CLIENT + 1) + [False] * (PER_CLIENT - 1)
        assert not kept.closed, "who sent a request before is closed last"
        late, _ = slow[-1]
        end = late._timer.when()
        for byte in (b"G", b"E", b"T", b" "):
            late.data_received(byte)
        assert late._timer.when() == end, "a byte at a time buys no time"
        others = [connect(f"192.0.2.{i % 200}") for i in range(IN_ALL)]
        assert sum(not wire.closed for _, wire in slow + others) == IN_ALL - 1
        assert not others[-1][1].closed
        late, _ = others[-1]
        late.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n")
        assert late not in state.waiting
        assert late._timer.when() > end, "a whole head does"
        for made, _ in (*slow, *others, (reviewer, kept)):
            made.connection_lost(None)
        assert not state.waiting

    asyncio.run(attack())
