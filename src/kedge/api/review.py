"""The review app started from Python, in the foreground or in a thread."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from kedge.report import link_html
from kedge.review.session import Ended, Visit, hold_review


class Review:
    """A review: its `url`, and how many `pairs` are in its queue. `stop()` ends one in the background and saves the
    head of the log; used as a context manager, it ends with the block."""

    def __init__(self) -> None:
        self.url, self.pairs = "", 0
        self.ended: Ended | None = None
        self._failure: BaseException | None = None
        self._ready = threading.Event()
        self._stop: Callable[[], None] | None = None
        self._thread: threading.Thread | None = None

    def stop(self) -> None:
        """End the review; answers are saved already."""
        if self._stop is not None:
            self._stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    @property
    def running(self) -> bool:
        """Whether it goes on in the background."""
        return self._thread is not None and self._thread.is_alive()

    def __enter__(self) -> Review:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "running" if self.running else "ended"
        return f"<kedge review {state}: {self.pairs:,} pairs, {self.url}>"

    def _repr_html_(self) -> str:
        return link_html(self.url, f"Review {self.pairs:,} pairs").html if self.running else "The review has ended."

    def _hold(
        self, directory: Path, visit: Visit, note: Callable[[str], None], browser: bool, shown: Callable[[str], None]
    ) -> None:
        def ready(link: str, pairs: int) -> None:
            self.url, self.pairs = link, pairs
            shown(f"{pairs:,} pairs to review. Open\n\n  {link}\n")
            self._ready.set()

        def started(stop: Callable[[], None]) -> None:
            self._stop = stop

        # Not the link itself: other users can read the command line of the browser.
        browse = (lambda page: webbrowser.open(page.as_uri())) if browser else None
        self.ended = hold_review(directory, visit, note, ready, browse, started)
        if self.ended.postponed is not None:
            note(f"{self.ended.postponed}. run.audit() uses the answers later")

    def _in_background(self, directory: Path, visit: Visit, note: Callable[[str], None], browser: bool) -> None:
        def held() -> None:
            try:
                self._hold(directory, visit, note, browser, lambda _: None)
            except BaseException as error:
                self._failure = error
            finally:
                self._ready.set()

        self._thread = threading.Thread(target=held, name="kedge review", daemon=True)
        self._thread.start()
        self._ready.wait()
        if not self.url:
            self.stop()


def open_review(directory: Path, visit: Visit, note: Callable[[str], None], *, browser: bool, block: bool) -> Review:
    """Start the app; return when it has ended, or as soon as its link works where it does not block."""
    review = Review()
    if block:
        review._hold(directory, visit, note, browser, lambda text: print(text, flush=True))
    else:
        review._in_background(directory, visit, note, browser)
    return review
