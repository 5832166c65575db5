"""`kedge report`: a run as one page to look at, and its figures as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import print_json
from kedge.errors import KedgeError

if TYPE_CHECKING:
    from kedge.pipeline import Contents

__all__ = ["report", "write_report"]


@guarded
def report(
    run: RunDirectory,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page; by default RUN/report.html.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Write each figure as a file there, too.")
    ] = None,
    format: Annotated[str, typer.Option(help="Of the figures: svg, or png (needs Chromium).")] = "svg",
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Write the report of a run: one HTML page that needs no network. An older report is replaced."""
    if format not in ("svg", "png"):
        raise KedgeError(f"no format {format!r}", remedy="choose svg or png")
    from kedge.pipeline import load_contents
    from kedge.pipeline.layout import REPORT

    contents = load_contents(run)
    path = write_report(contents, out or run / REPORT)
    written = [] if figures is None else _write_figures(contents, figures, format)
    if json:
        print_json({"report": str(path), "bytes": path.stat().st_size, "figures": [str(p) for p in written]})
        return
    print(f"{path} ({path.stat().st_size / 1e3:,.0f} kB)")
    if figures is not None:
        print(f"{len(written)} figures in {figures}")


def write_report(contents: Contents, path: Path) -> Path:
    """Put the page in its place, whole or not at all."""
    from kedge.report import build_report
    from kedge.store import write_atomically

    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give the name of a file")
    if path.exists() and b'content="kedge' not in path.read_bytes()[:4096]:
        # Replacing an older report is what one wants; replacing something else is not.
        raise KedgeError("exists and is no kedge report", file=path, remedy="choose another name")
    page = build_report(contents).encode()
    write_atomically(path, lambda file: file.write(page))
    return path


def _write_figures(contents: Contents, folder: Path, format: str) -> list[Path]:
    from kedge.report import report_figures, standalone_size, standalone_svg
    from kedge.store import write_atomically
    from kedge.store.atomic import translate_disk_errors

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
    """SVG to PNG at twice the size, by a browser: it has the fonts, and no library is needed for it."""
    import base64

    from kedge.cli.chromium import open_browser

    images = {}
    with open_browser() as browser:
        for name, (text, (width, height)) in drawn.items():
            browser.size(width, height, 2.0)
            browser.open("data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode())
            images[name] = browser.picture()
    return images
