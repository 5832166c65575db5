"""The figures of a run's report as files of their own."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import BinaryIO

from kedge.report import report_figures, standalone_size, standalone_svg
from kedge.store import Contents, translate_disk_errors, write_atomically
from kedge.types import KedgeError


def check_figure_format(format: str) -> None:
    """Refuse a format that figures do not have."""
    if format not in ("svg", "png"):
        raise KedgeError(f"no format {format!r}", remedy="choose svg or png")


def write_figures(contents: Contents, folder: Path, format: str) -> list[Path]:
    """Write each figure into the folder, as SVG, or as PNG by Chromium; the files."""
    drawn = {
        name: (standalone_svg(figure), standalone_size(figure)) for name, figure in report_figures(contents).items()
    }
    images = {name: text.encode() for name, (text, _) in drawn.items()} if format == "svg" else _rasterise(drawn)
    with translate_disk_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = []
    for name, image in images.items():
        path = folder / f"{name}.{format}"
        write_atomically(path, partial(_put, image))
        written.append(path)
    return written


def _put(image: bytes, file: BinaryIO) -> None:
    file.write(image)


def _rasterise(drawn: dict[str, tuple[str, tuple[int, int]]]) -> dict[str, bytes]:
    """SVG to PNG at twice the size, by Chromium: it has the fonts, and no library is needed."""
    from kedge.report.chromium import open_browser

    images = {}
    with open_browser() as browser:
        for name, (text, (width, height)) in drawn.items():
            browser.size(width, height, 2.0)
            browser.open("data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode())
            images[name] = browser.picture()
    return images
