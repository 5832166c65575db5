"""`kedge report`: a run as one page to look at, and its figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import print_json
from kedge.errors import KedgeError

if TYPE_CHECKING:
    from kedge.store import Contents


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
    if format not in ("svg", "png"):
        raise KedgeError(f"no format {format!r}", remedy="choose svg or png")
    from kedge.pipeline import check_report_path, write_report
    from kedge.store import REPORT, load_contents, read_manifest, refuse_directory

    read_manifest(run)
    check_report_path(out or run / REPORT)
    if figures is not None:
        refuse_directory(figures)
    contents = load_contents(run)
    path = write_report(contents, out or run / REPORT)
    written = [] if figures is None else _write_figures(contents, figures, format)
    if json:
        print_json({"report": str(path), "bytes": path.stat().st_size, "figures": [str(p) for p in written]})
        return
    print(f"{path} ({path.stat().st_size / 1e3:,.0f} kB)")
    if figures is not None:
        print(f"{len(written)} figures in {figures}")


def _write_figures(contents: Contents, folder: Path, format: str) -> list[Path]:
    from kedge.report import report_figures, standalone_size, standalone_svg
    from kedge.store import translate_disk_errors, write_atomically

    drawn = {
        name: (standalone_svg(figure), standalone_size(figure)) for name, figure in report_figures(contents).items()
    }
    images = {name: text.encode() for name, (text, _) in drawn.items()} if format == "svg" else _rasterise(drawn)
    with translate_disk_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = []
    for name, image in images.items():
        path = folder / f"{name}.{format}"
        write_atomically(path, lambda file, image=image: file.write(image))  # type: ignore[misc]
        written.append(path)
    return written


def _rasterise(drawn: dict[str, tuple[str, tuple[int, int]]]) -> dict[str, bytes]:
    """SVG to PNG at twice the size, by Chromium: it has the fonts, and no library is needed."""
    import base64

    from kedge.cli.chromium import open_browser

    images = {}
    with open_browser() as browser:
        for name, (text, (width, height)) in drawn.items():
            browser.size(width, height, 2.0)
            browser.open("data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode())
            images[name] = browser.picture()
    return images
