"""`kedge report`: a run as one page to look at, and its figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import print_json


@guarded
def report(
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page; by default RUN/report.html.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Also write each figure as a file there.")
    ] = None,
    format: Annotated[str, typer.Option(help="Format of the figures: svg, or png (needs Chromium).")] = "svg",
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Write the report of a run: one HTML page that needs no network. An older report is replaced."""
    from kedge.pipeline import check_figure_format, check_report_path, write_figures, write_report
    from kedge.store import REPORT, load_contents, read_manifest, refuse_directory

    check_figure_format(format)
    read_manifest(run)
    check_report_path(out or run / REPORT)
    if figures is not None:
        refuse_directory(figures)
    contents = load_contents(run)
    path = write_report(contents, out or run / REPORT)
    written = [] if figures is None else write_figures(contents, figures, format)
    if json:
        print_json({"report": str(path), "bytes": path.stat().st_size, "figures": [str(p) for p in written]})
        return
    print(f"{path} ({path.stat().st_size / 1e3:,.0f} kB)")
    if figures is not None:
        print(f"{len(written)} figures in {figures}")
