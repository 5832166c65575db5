"""How the browser gets its session: by a page that only this user can read, with a link that works once.

The command line of a browser is visible to every user of the machine, so it may not contain a token. It contains the
path of this page instead, which sends the browser on.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kedge.store import TEMPORARY, translate_disk_errors

_PAGE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>kedge review</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={link}">'
    '<p><a href="{link}">Open the review</a></p></html>\n'
)


class Handover:
    """A token that is valid once, and the page that carries it."""

    def __init__(self) -> None:
        self._token: str | None = secrets.token_urlsafe(32)
        self._page: Path | None = None

    def take(self, token: str) -> bool:
        """Whether this is the token; it is used up then, and its page is removed."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return False
        self._token = None
        self._remove()
        return True

    @contextlib.contextmanager
    def page(self, address: str, directory: Path) -> Iterator[Path]:
        """The page, mode 0600, in a directory; gone as soon as it was used, and at the end in any case."""
        with translate_disk_errors(directory):
            # A name by which the next match removes it, should this process be killed.
            handle, name = tempfile.mkstemp(prefix=TEMPORARY, suffix=".html", dir=directory)
            self._page = Path(name)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_PAGE.format(link=f"{address}?token={self._token}"))
        try:
            yield self._page.resolve()
        finally:
            self._remove()

    def _remove(self) -> None:
        if self._page is not None:
            self._page.unlink(missing_ok=True)
