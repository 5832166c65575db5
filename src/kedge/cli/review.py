"""`kedge review`: people decide uncertain pairs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import Reporter, print_json
from kedge.errors import KedgeError


@guarded
def review(
    run: RunDirectory,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; everyone who can reach it and has the link gets in.")
    ] = "127.0.0.1",
    reviewer: Annotated[str | None, typer.Option(help="The reviewer's name; by default the browser asks.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link without opening a browser.")] = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Decide uncertain pairs in the browser, with their evidence and other candidates; ^C ends it.

    Each decision is saved in RUN/decisions.sqlite at once. The same `kedge match` again learns from them.
    """
    import sys
    import webbrowser

    from kedge.context import need_extra

    need_extra("review", "`kedge review`")
    from kedge.review.data import load_review
    from kedge.review.requests import ReviewerBody
    from kedge.review.server import serve
    from kedge.store import DECISIONS_FILE, read_manifest, record_decisions, reviewing

    if reviewer is not None:
        try:
            reviewer = ReviewerBody(name=reviewer).name
        except ValueError:
            raise KedgeError("--reviewer is not a name", remedy="give 1 to 80 printable characters") from None
    reporter = Reporter()
    if host != "127.0.0.1":
        reporter.note(
            f"listening on {host}: everyone who has the link can see the run and decide; nothing is encrypted"
        )

    def ready(link: str) -> None:
        if json:
            print_json({"url": link, "pairs": len(data.queue)})
        else:
            print(f"{len(data.queue):,} pairs to review, the most informative first; ^C ends it. Open\n\n  {link}\n")
        sys.stdout.flush()

    def browse(page: Path) -> None:
        # Not the link itself: other users can read the command line of the browser.
        webbrowser.open(page.as_uri())

    read_manifest(run)
    with reviewing(run):
        reporter.note("reading the run ...")
        data = load_review(run)
        head = serve(data, run, (host, port), ready, reviewer, None if no_open else browse)
        record_decisions(run, head)
    reporter.note(
        f"{head.count:,} entries in {run / DECISIONS_FILE}, head {head.hash}; save the head elsewhere: "
        f"`kedge decisions {run} verify --head` finds it again. The same `kedge match` learns from them"
    )
