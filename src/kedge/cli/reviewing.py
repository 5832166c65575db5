"""`kedge review` and `kedge decisions`: people decide what the method cannot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from kedge.cli.options import Debug, Force, Json, RunDirectory, guarded
from kedge.cli.show import Reporter, print_json
from kedge.errors import KedgeError

__all__ = ["decisions", "review"]


@guarded
def review(
    run: RunDirectory,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 0,
    host: Annotated[
        str, typer.Option(help="Another address than this machine alone; everyone with the link gets in.")
    ] = "127.0.0.1",
    reviewer: Annotated[str | None, typer.Option(help="Who decides; asked in the browser otherwise.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link, open no browser.")] = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Decide uncertain pairs in the browser: why, who else, yes or no; ^C ends it.

    Every decision is kept in RUN/decisions.sqlite at once. Run the same `kedge match` again to learn from them.
    """
    import sys
    import webbrowser

    from kedge.review.bodies import ReviewerBody
    from kedge.review.data import load_review
    from kedge.review.server import serve
    from kedge.store import DECISIONS_FILE, read_manifest, reviewing

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
        if not no_open:
            webbrowser.open(link)

    read_manifest(run)
    with reviewing(run):
        reporter.note("reading the run ...")
        data = load_review(run)
        count = serve(data, run / DECISIONS_FILE, host=host, port=port, reviewer=reviewer, ready=ready)
    reporter.note(f"{count:,} entries in {run / DECISIONS_FILE}; run the same `kedge match` again to learn from them")


@guarded
def decisions(
    run: RunDirectory,
    action: Annotated[str, typer.Argument(metavar="export|verify", help="What to do with the decisions.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="export: confirmed pairs, TSV or CSV by its ending."),
    ] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="export: rejected pairs too, into this file.")
    ] = None,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Export what reviewers decided as anchors, or verify that nobody has changed the log."""
    from kedge.store import DECISIONS_FILE, DecisionLog, read_manifest, refuse_overwrite, write_atomically

    read_manifest(run)
    path = run / DECISIONS_FILE
    if action not in ("export", "verify"):
        raise KedgeError(f"no action {action!r}", remedy="choose export or verify")
    if not path.exists():
        raise KedgeError("nobody has decided anything yet", file=path, remedy=f"start with `kedge review {run}`")
    log = DecisionLog(path)
    settled = log.state.settled()
    entries, head = len(log.state.entries), log.head
    log.close()
    counts = {
        "confirmed": len(settled.confirmed),
        "rejected": len(settled.rejected),
        "disputed": len(settled.disputed),
        "contradictions": len(settled.contradictions),
    }
    if action == "verify":
        if json:
            print_json({"entries": entries, "head": head, **counts})
        else:
            print(f"{entries:,} entries, every one as it was written; head {head}")
        return
    if out is None and rejected is None:
        raise KedgeError("export needs a file", remedy="name it with -o confirmed.tsv or --rejected rejected.tsv")
    wanted = [
        (file, pairs) for file, pairs in ((out, settled.confirmed), (rejected, settled.rejected)) if file is not None
    ]
    for file, _ in wanted:
        _delimiter(file)
        refuse_overwrite(file, force)
    for file, pairs in wanted:
        write_atomically(file, partial(_dump, pairs, _delimiter(file)))
    reporter = Reporter()
    if settled.contradictions:
        reporter.note(
            f"{len(settled.contradictions)} accounts were confirmed with several partners; their pairs are left out"
        )
    if settled.disputed:
        reporter.note(f"{len(settled.disputed)} pairs on which reviewers disagree are left out")
    if json:
        print_json({"files": [str(file) for file, _ in wanted], **counts})
    else:
        for file, pairs in wanted:
            print(f"{len(pairs):,} pairs in {file}")


def _delimiter(file: Path) -> str:
    kind = file.suffix.lower()
    if kind not in (".tsv", ".csv"):
        raise KedgeError("no such format", file=file, remedy="end the name in .tsv or .csv")
    return "\t" if kind == ".tsv" else ","


def _dump(pairs: Any, delimiter: str, file: BinaryIO) -> None:
    """As our own reader reads them back: a header, quotes where an id needs them."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(("left", "right"))
    writer.writerows(pairs)
    file.write(text.getvalue().encode())
