"""One pair explained: as text, as JSON types, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedge.api.objects import as_path
from kedge.api.wording import worded
from kedge.decide.explanation import Explanation
from kedge.decide.steps import as_dict, as_text
from kedge.pipeline.explain import check_picture, draw_explanation
from kedge.report import explanation_svg


class Explained:
    """The evidence for and against a pair. `print` shows it in three steps, a notebook draws it; what the explanation
    has (`probability`, `log_odds`, `hits`, `competition` and so on, see `kedge.decide.explanation.Explanation`) are its
    attributes."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def __getattr__(self, name: str) -> Any:
        if name == "explanation":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self.explanation, name)

    @property
    def text(self) -> str:
        """The three steps for people."""
        return as_text(self.explanation)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON types, as `kedge explain --json` prints it."""
        return as_dict(self.explanation)

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return explanation_svg(self.explanation)

    @worded
    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the picture as an SVG file."""
        place = as_path(path, "path")
        check_picture(place, force)
        draw_explanation(self.explanation, place)
        return place

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return self.svg
