"""A headless Chromium over its debugging pipe: figures as PNG.

The pipe (`--remote-debugging-pipe`) needs no port, no library and no network: messages are JSON, ended by a zero byte.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kedge.errors import KedgeError

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE: Final = 120.0  # seconds; a busy machine is slow to start a browser
# Chromium reads from descriptor 3 and writes to 4. Not by `preexec_fn`: that may deadlock where there are threads.
_LAUNCH: Final = "import os, sys; a = sys.argv[1:]; os.dup2(int(a[0]), 3); os.dup2(int(a[1]), 4); os.execv(a[2], a[2:])"


def find_chromium() -> str | None:
    """The browser on the path, if there is one."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a running Chromium."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._held = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events in between are recorded."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._to, rest) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            block = os.read(self._from, 1 << 20) if ready else b""
            if not block:
                raise TimeoutError("Chromium does not answer")
            self._held += block
        line, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self._events.append(message["method"])
        return message

    def open(self, url: str) -> None:
        """Go to a page and wait until it is loaded."""
        self._events.clear()
        self._call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._events:
            self._receive()

    def size(self, width: int, height: int, scale: float) -> None:
        """The size of the window."""
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def picture(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])


def _pipe_above(least: int) -> tuple[int, int]:
    """A pipe whose ends are out of the way of the descriptors that Chromium uses."""
    low = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, least) for end in low)
    for end in low:
        os.close(end)
    return read, write


def _connect(to_browser: int, from_browser: int) -> Browser:
    try:
        return Browser(to_browser, from_browser)
    except (BrokenPipeError, TimeoutError):
        raise KedgeError("the browser does not start", remedy="take the figures as SVG (--format svg)") from None


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium with an empty profile and no network use of its own; ended and cleaned up in any case."""
    program = find_chromium()
    if program is None:
        raise KedgeError("PNG needs a browser", remedy="install chromium, or take the figures as SVG (--format svg)")
    with tempfile.TemporaryDirectory(prefix="kedge-chromium-", ignore_cleanup_errors=True) as profile:
        browser_in, to_browser = _pipe_above(10)
        from_browser, browser_out = _pipe_above(10)
        words = [
            program,
            "--headless",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
            f"--user-data-dir={Path(profile)}",
        ]
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # Chromium refuses to start for root otherwise
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", _LAUNCH, str(browser_in), str(browser_out), *words],
            pass_fds=(browser_in, browser_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(browser_in)
        os.close(browser_out)
        try:
            yield _connect(to_browser, from_browser)
        finally:
            os.close(to_browser)
            os.close(from_browser)
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            if process.poll() is None:
                process.kill()
                process.wait()
