"""`kedge review`: people decide uncertain pairs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json
from kedge.errors import KedgeError


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

    from kedge.context import need_extra

    need_extra("review", "`kedge review`")
    from kedge.answers import audit_sentence
    from kedge.pipeline import audit_run, draw_sample
    from kedge.review.data import load_review
    from kedge.review.requests import ReviewerBody
    from kedge.review.server import serve
    from kedge.store import DECISIONS_FILE, read_manifest, record_decisions, reviewing

    if reviewer is not None:
        try:
            reviewer = ReviewerBody(name=reviewer).name
        except ValueError:
            raise KedgeError("--reviewer is not a name", remedy="give 1 to 80 printable characters") from None
    if answers is not None and not audit:
        raise KedgeError("--answers is for an audit", remedy="add --audit")
    reporter = Reporter()
    if host != "127.0.0.1":
        reporter.note(
            f"listening on {host}: everyone who has the link can see the run and decide; nothing is encrypted"
        )

    def ready(link: str) -> None:
        if json:
            print_json({"url": link, "pairs": len(data.queue)})
        else:
            order = "pairs of the audit, in random order" if audit else "pairs to review, the most informative first"
            print(f"{len(data.queue):,} {order}; ^C ends it. Open\n\n  {link}\n")
        sys.stdout.flush()

    def browse(page: Path) -> None:
        # Not the link itself: other users can read the command line of the browser.
        webbrowser.open(page.as_uri())

    read_manifest(run)
    sample = draw_sample(run, answers, reporter.note) if audit else None
    with reviewing(run):
        reporter.note("reading the run ...")
        data = load_review(run)
        if sample is not None:
            data = data.for_audit(sample)
        head = serve(data, run, (host, port), ready, reviewer, None if no_open else browse)
        record_decisions(run, head)
    if audit:
        try:
            shown = audit_run(run, reporter.note)["audit"]
            (reporter.note if json else print)(
                "Audit: no pair is answered yet." if shown is None else audit_sentence(shown)
            )
        except KedgeError as error:  # another review of the run is open
            reporter.note(f"{error}. `kedge audit {run}` uses the answers later")
    learns = "" if audit else ". The same `kedge match` learns from them"
    reporter.note(
        f"{head.count:,} entries in {run / DECISIONS_FILE}, head {head.hash}; save the head elsewhere: "
        f"`kedge decisions {run} verify --head` finds it again{learns}"
    )
