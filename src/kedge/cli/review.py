"""`kedge review`: people decide uncertain pairs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json


@guarded
def review(
    run: RunDirectory,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; everyone who can reach it and has the link gets in.")
    ] = "127.0.0.1",
    reviewer: Annotated[str | None, typer.Option(help="The reviewer's name; by default the browser asks.")] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Instead: a random sample of would-be matches, to measure their precision.")
    ] = False,
    answers: Annotated[
        int | None, typer.Option(help="--audit: pairs to ask; a larger number later extends the sample. By default 40.")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link without opening a browser.")] = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Decide uncertain pairs in the browser, with their evidence and other candidates; ^C ends it.

    Each decision is saved in RUN/decisions.sqlite at once. The same `kedge match` again learns from them. Those of an
    audit are kept apart: when it ends, they correct probabilities and decisions of the run.
    """
    import sys
    import webbrowser

    from kedge.answers import audit_sentence
    from kedge.review.session import Visit, hold_review
    from kedge.store import DECISIONS_FILE

    visit = Visit(host, port, reviewer, audit, answers).check()
    reporter = Reporter()

    def ready(link: str, pairs: int) -> None:
        if json:
            print_json({"url": link, "pairs": pairs})
        else:
            order = "pairs of the audit, in random order" if audit else "pairs to review, the most informative first"
            print(f"{pairs:,} {order}; ^C ends it. Open\n\n  {link}\n")
        sys.stdout.flush()

    def browse(page: Path) -> None:
        # Not the link itself: other users can read the command line of the browser.
        webbrowser.open(page.as_uri())

    ended = hold_review(run, visit, reporter.note, ready, None if no_open else browse)
    if ended.postponed is not None:
        reporter.note(f"{ended.postponed}. `kedge audit {run}` uses the answers later")
    elif audit:
        shown = "Audit: no pair is answered yet." if ended.audit is None else audit_sentence(ended.audit)
        (reporter.note if json else print)(shown)
    learns = "" if audit else ". The same `kedge match` learns from them"
    reporter.note(
        f"{ended.head.count:,} entries in {run / DECISIONS_FILE}, head {ended.head.hash}; save the head elsewhere: "
        f"`kedge decisions {run} verify --head` finds it again{learns}"
    )
