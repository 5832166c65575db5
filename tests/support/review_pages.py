"""The review app as its users have it: a server in a process of its own, and a tab of a browser."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forked import Forked, command_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog

Shown: TypeAlias = tuple[str, str]  # the ids of the pair on the page

SIZES = [(1280, 860), (390, 844)]


class Server:
    """`kedge review` in a process of its own, that can be killed and started again on the same port."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.port = 0
        self.start()

    def start(self, *words: object, env: dict[str, str] | None = None) -> None:
        self.process = Forked(command_in, env or {}, "review", self.run, *(words or ("--no-open", "--port", self.port)))
        for line in self.process.output:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", line):
                self.link, self.port = found[0], int(found[1])
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.end()


class Tab:
    """A page that fails the test on any script error, refused resource or request to elsewhere."""

    def __init__(self, browser: Browser, server: Server, size: tuple[int, int] = SIZES[0], **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on("console", self._console)
        self.page.on(
            "request", lambda r: None if r.url.startswith("http://127.0.0.1:") else self.troubles.append(r.url)
        )
        self.page.set_default_timeout(120_000)
        self.page.goto(server.link)

    def _dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        # A conflict (409) is an answer that the app expects; the browser reports it all the same.
        if message.type == "error" and "409" not in message.text:
            self.troubles.append(message.text)

    def name(self, who: str) -> None:
        self.page.fill("#name", who)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("dialog", state="detached")
        self.pair()

    def pair(self) -> Shown:
        self.page.wait_for_selector("main:not([aria-busy]) .person.left")
        return self.page.inner_text(".person.left .id"), self.page.inner_text(".person.right .id")

    def answered(self, act: Callable[[], object], before: Shown) -> Shown:
        """Do something that brings up another pair, and wait for it."""
        act()
        self.page.wait_for_function(
            "before => { const at = [...document.querySelectorAll('main:not([aria-busy]) .person .id')]"
            ".map(e => e.innerText); return at.length == 2 && (at[0] != before[0] || at[1] != before[1]) }",
            arg=list(before),
        )
        return self.pair()

    def close(self) -> None:
        self.context.close()
        assert self.troubles == []
