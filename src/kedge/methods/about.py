"""What each method is, in a line: the first sentence of its module, read without running it."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from kedge.methods import METHODS

__all__ = ["describe"]


def describe(name: str) -> str:
    """The first paragraph of the method's docstring as one line; torch and its like are not loaded for it."""
    place = find_spec(METHODS[name].module)
    if place is None or place.origin is None:
        raise ValueError(f"method {name!r} has no module")
    text = ast.get_docstring(ast.parse(Path(place.origin).read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
