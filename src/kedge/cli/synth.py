"""`kedge synth`: networks whose truth is known, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Columns, Debug, Force, Json, Quiet, guarded, read_settings
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table


@guarded
def synth(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The directory to write to.")],
    network: Annotated[
        Path | None,
        typer.Argument(help="A network to draw the paper's two sub-networks from; without one, a pair is planted."),
    ] = None,
    columns: Columns = None,
    alpha_s: Annotated[float, typer.Option(help="Sub-networks: the share of edges in each.")] = 0.9,
    alpha_c: Annotated[float, typer.Option(help="Sub-networks: the share of edges in both.")] = 0.9,
    nodes: Annotated[int, typer.Option(help="Planted: accounts on each side.")] = 2000,
    left_nodes: Annotated[int | None, typer.Option(help="Planted: accounts on the left.")] = None,
    right_nodes: Annotated[int | None, typer.Option(help="Planted: accounts on the right.")] = None,
    anchors: Annotated[int | None, typer.Option(help="Planted: persons with an account on both sides.")] = None,
    left_edges: Annotated[int | None, typer.Option(help="Planted: edges on the left.")] = None,
    right_edges: Annotated[int | None, typer.Option(help="Planted: edges on the right.")] = None,
    overlap: Annotated[
        float,
        typer.Option(help="Planted: the share of left edges between anchored accounts that the right network has too."),
    ] = 0.6,
    train: Annotated[
        float, typer.Option(help="The share of anchors that goes to train.tsv; the rest to test.tsv.")
    ] = 0.2,
    profiles: Annotated[
        str | None,
        typer.Option(
            metavar="easy|medium|hard", help="Planted: profiles too, with as much noise: names, handles, cities, bios."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    format: Annotated[str, typer.Option(help="tsv or parquet.")] = "tsv",
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Make a pair of networks whose truth is known: the paper's sub-networks, or a planted social pair.

    Writes left, right, anchors, train and test (tsv or parquet) and synth.json with the realised figures; --profiles
    adds left.profiles and right.profiles (csv or parquet).
    """
    from kedge.config import resolve
    from kedge.pipeline.planted import Wanted, check_difficulty, check_place, cut_pair, plant_pair, write_pair

    check_place(out, format, force)
    check_difficulty(profiles)
    with Reporter(quiet).open() as reporter:
        if network is not None:
            reading = resolve(overrides=read_settings(columns=columns)).read
            made = cut_pair(network, reading, alpha_s, alpha_c, seed, reporter)
        else:
            wanted = Wanted(nodes, left_nodes, right_nodes, anchors, left_edges, right_edges, overlap)
            made = plant_pair(wanted, seed, reporter)
        for note in made.notes:
            reporter.note(note)
        reporter.stage("writing")
        write_pair(made, out, train, seed, format, profiles)
    summary = {"directory": str(out), "notes": list(made.notes), "realised": dict(made.realised)}
    if json:
        print_json(summary)
    else:
        rows = [
            (name.replace("_", " "), f"{value:,.0f}" if value == round(value) else f"{value:,.3f}")
            for name, value in made.realised.items()
        ]
        print_table(f"Planted in {out}", ("", ""), rows)
