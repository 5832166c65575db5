"""`kedge explain`: the evidence for and against a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Force, Json, RunDirectory, guarded
from kedge.cli.show import print_json
from kedge.errors import KedgeError


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
    from kedge.pipeline.explain import explain_pair
    from kedge.store import refuse_overwrite, write_atomically

    if plot is not None:
        if plot.suffix.lower() != ".svg":
            raise KedgeError(f"no picture format {plot.suffix!r}", file=plot, remedy="end the name in .svg")
        refuse_overwrite(plot, force)
    explanation = explain_pair(run, left, right)
    if plot is not None:
        from kedge.report import explanation_svg

        picture = explanation_svg(explanation)
        write_atomically(plot, lambda file: file.write(picture.encode()))
    if json:
        print_json(as_dict(explanation))
    else:
        print(as_text(explanation), end="")
