"""Serve the review app until ^C."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.review.app import create_app
from kedge.review.data import ReviewData
from kedge.review.guard import Access, hosts_of
from kedge.store import DecisionLog

LOCAL: Final = "127.0.0.1"
_WILDCARDS: Final = ("", "0.0.0.0", "::", "*")


def _bind(host: str, port: int) -> socket.socket:
    if host in _WILDCARDS:
        raise KedgeError(
            f"--host {host!r} means every address of this machine", remedy="give the one by which reviewers reach it"
        )
    listener = None
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # TCP by name: asyncio switches off Nagle's delay (40 ms per answer) only for sockets with this protocol.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # From here on the link works: a request before the server is up waits in the queue.
        listener.listen(64)
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        words = getattr(error, "strerror", None) or str(error)
        raise KedgeError(
            f"cannot listen on {host} port {port} ({words})", remedy="choose another with --port or --host"
        ) from None
    return listener


def serve(
    data: ReviewData,
    decisions: Path,
    address: tuple[str, int],
    ready: Callable[[str], None],
    reviewer: str | None = None,
) -> int:
    """Serve at a host and port until interrupted; `ready` gets the link. The number of decisions in the log then."""
    import uvicorn

    host = address[0]
    listener = _bind(*address)
    port = listener.getsockname()[1]
    with contextlib.closing(listener), contextlib.closing(DecisionLog(decisions)) as log:
        # Browsers share cookies between the ports of one host, so each server has its own name for them.
        access = Access(hosts_of(host, port), f"kedge-{port}")
        app = create_app(data, log, access, reviewer)
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            loop="asyncio",
            http="h11",
            timeout_graceful_shutdown=1,
            limit_concurrency=100,
        )
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{port}/?token={access.token}")
        with contextlib.suppress(KeyboardInterrupt):  # ^C is how a review ends, not a fault
            uvicorn.Server(config).run(sockets=[listener])
        return len(log.state.entries)
