"""The report of a run directory as an object."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from urllib.parse import quote

from kedge import store
from kedge.pipeline import check_figure_format, check_report_path, write_figures, write_report
from kedge.report import link_html


class Report:
    """The page of a run: `path`, and the files of its `figures` if they were asked for. `open()` shows it."""

    def __init__(self, path: Path, figures: tuple[Path, ...] = ()) -> None:
        self.path, self.figures = path, figures

    def open(self) -> None:
        """Show the page in a browser."""
        webbrowser.open(self.path.resolve().as_uri())

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<kedge report {self.path}>"

    def _repr_html_(self) -> str:
        return link_html(quote(str(self.path)), f"The report: {self.path}").html


def write_page(directory: Path, path: Path | None, figures: Path | None, format: str) -> Report:
    """Write the page, and each figure as a file where a folder is named."""
    place = directory / store.REPORT if path is None else path
    check_figure_format(format)
    store.read_manifest(directory)
    check_report_path(place)
    if figures is not None:
        store.refuse_directory(figures)
    contents = store.load_contents(directory)
    written = () if figures is None else tuple(write_figures(contents, figures, format))
    return Report(write_report(contents, place), written)
