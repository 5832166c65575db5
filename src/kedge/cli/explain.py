"""`kedge explain`: the evidence for and against a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Force, Json, RunDirectory, guarded
from kedge.cli.show import print_json


@guarded
def explain(
    run: RunDirectory,
    left: Annotated[str, typer.Argument(help="The id of the left account.")],
    right: Annotated[str, typer.Argument(help="The id of the right account.")],
    plot: Annotated[Path | None, typer.Option(help="Draw the evidence as an SVG file.")] = None,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Show the evidence for and against any pair, and the way from it over its rivals to the probability."""
    from kedge.decide.steps import as_dict, as_text
    from kedge.pipeline.explain import check_picture, draw_explanation, explain_pair

    if plot is not None:
        check_picture(plot, force)
    explanation = explain_pair(run, left, right)
    if plot is not None:
        draw_explanation(explanation, plot)
    if json:
        print_json(as_dict(explanation))
    else:
        print(as_text(explanation), end="")
