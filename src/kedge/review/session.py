"""One review of a run from its start to its end: the sample of an audit drawn, the app served, the answers used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kedge.context import need_extra
from kedge.errors import KedgeError
from kedge.pipeline import audit_run, draw_sample
from kedge.review.data import load_review
from kedge.store import Head, read_manifest, record_decisions, reviewing


@dataclass(frozen=True)
class Visit:
    """How a review is held: where it listens, who reviews (None: the browser asks), and whether it is an `audit`, with
    so many `answers`."""

    host: str = "127.0.0.1"
    port: int = 0
    reviewer: str | None = None
    audit: bool = False
    answers: int | None = None

    def check(self) -> Visit:
        """The same with the reviewer's name as it is saved; refuses what cannot be, before any work."""
        need_extra("review", "`kedge review`")
        from kedge.review.requests import ReviewerBody

        if self.answers is not None and not self.audit:
            raise KedgeError("--answers is for an audit", remedy="add --audit")
        if self.reviewer is None:
            return self
        try:
            name = ReviewerBody(name=self.reviewer).name
        except ValueError:
            raise KedgeError("--reviewer is not a name", remedy="give 1 to 80 printable characters") from None
        return Visit(self.host, self.port, name, self.audit, self.answers)


@dataclass(frozen=True)
class Ended:
    """The head of the log at the end of a review; of an audit also what it shows, None where no pair is answered, and
    why the answers are not used yet, if they are not."""

    head: Head
    audit: dict[str, Any] | None = None
    postponed: str | None = None


def hold_review(
    directory: Path,
    visit: Visit,
    note: Callable[[str], None],
    ready: Callable[[str, int], None],
    browse: Callable[[Path], object] | None = None,
    started: Callable[[Callable[[], None]], None] | None = None,
) -> Ended:
    """Serve the app until it is interrupted, then save the head of the log and use the answers of an audit.

    `ready` gets the link and the number of pairs; `browse` a page that opens the review without naming the link;
    `started` gets what ends the review from another thread.
    """
    from kedge.review.server import serve

    if visit.host != "127.0.0.1":
        note(f"listening on {visit.host}: everyone who has the link can see the run and decide; nothing is encrypted")
    read_manifest(directory)
    sample = draw_sample(directory, visit.answers, note) if visit.audit else None
    with reviewing(directory):
        note("reading the run ...")
        data = load_review(directory)
        if sample is not None:
            data = data.for_audit(sample)
        pairs = len(data.queue)
        address = (visit.host, visit.port)
        head = serve(data, directory, address, lambda link: ready(link, pairs), visit.reviewer, browse, started)
        record_decisions(directory, head)
    if not visit.audit:
        return Ended(head)
    try:
        return Ended(head, audit_run(directory, note)["audit"])
    except KedgeError as error:  # another review of the run is open
        return Ended(head, postponed=str(error))
