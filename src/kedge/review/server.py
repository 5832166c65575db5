"""Serve the review app until ^C."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.review.app import create_app
from kedge.review.data import ReviewData
from kedge.review.guard import HANDOVER, Access, hosts_of
from kedge.review.handover import Handover
from kedge.store import Head, open_decisions

LOCAL: Final = "127.0.0.1"


def _is_wildcard(address: str) -> bool:
    """Whether it means every address of this machine, in whatever form it was written."""
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return found.is_unspecified or (inner is not None and inner.is_unspecified)


def _bind(host: str, port: int) -> socket.socket:
    listener = None
    try:
        # 0, 0x0 and ::0 are names of 0.0.0.0 and :: that only the system's own resolver knows all of.
        found = [] if host.strip() in ("", "*") else socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if not found or any(_is_wildcard(str(one[4][0])) for one in found):
            raise KedgeError(
                f"--host {host!r} means every address of this machine",
                remedy="give the one by which reviewers reach it",
            )
        family, _, _, _, address = found[0]
        # TCP by name: asyncio switches off Nagle's delay (40 ms per answer) only for sockets with this protocol.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # From here on the link works: a request before the server is up waits in the queue.
        listener.listen(64)
    except (OSError, OverflowError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        words = getattr(error, "strerror", None) or str(error)
        raise KedgeError(
            f"cannot listen on {host} port {port} ({words})", remedy="choose another with --port or --host"
        ) from None
    return listener


def serve(
    data: ReviewData,
    directory: Path,
    address: tuple[str, int],
    ready: Callable[[str], None],
    reviewer: str | None = None,
    browse: Callable[[Path], object] | None = None,
    started: Callable[[Callable[[], None]], None] | None = None,
) -> Head:
    """Serve at a host and port until interrupted; the head of the log then.

    `ready` gets the link; `browse` a page that opens the review, once, without naming the link; `started` a function
    that ends the service from another thread.
    """
    import uvicorn

    from kedge.review.connections import HEAD_BYTES, Connection

    host = address[0]
    listener = _bind(*address)
    port = listener.getsockname()[1]
    with contextlib.closing(listener), contextlib.closing(open_decisions(directory, audit=data.audit)) as log:
        # Browsers share cookies between the ports of one host, so each server has its own name for them.
        hosts = hosts_of(host, port) | hosts_of(listener.getsockname()[0], port)
        handover = Handover()
        access = Access(hosts, f"kedge-{port}", is_handover=handover.take)
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
            http=Connection,
            h11_max_incomplete_event_size=HEAD_BYTES,
            timeout_graceful_shutdown=1,
        )
        base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        server = uvicorn.Server(config)
        if started is not None:
            started(lambda: setattr(server, "should_exit", True))
        ready(f"{base}/?token={access.token}")
        with contextlib.ExitStack() as pages, contextlib.suppress(KeyboardInterrupt):  # ^C is how a review ends
            if browse is not None:
                browse(pages.enter_context(handover.page(base + HANDOVER, directory)))
            server.run(sockets=[listener])
        log.refresh()
        return log.newest
