"""`kedge synth`: networks whose truth is known, as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

import typer

from kedge.cli.options import Columns, Debug, Force, Json, Quiet, guarded, read_settings
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table
from kedge.errors import KedgeError

if TYPE_CHECKING:
    from kedge.synthetic import Planted

_TABLES: Final = ("left", "right", "anchors", "train", "test")
_PROFILES: Final = ("left.profiles", "right.profiles")
_FIGURES: Final = "synth.json"


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
    if format not in ("tsv", "parquet"):
        raise KedgeError(f"no format {format!r}", remedy="choose tsv or parquet")
    if out.exists() and not out.is_dir():
        raise KedgeError("is a file", file=out, remedy="give a directory")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise KedgeError("is not empty", file=out, remedy="choose another directory, or overwrite with --force")
    from kedge.store import refuse_directory
    from kedge.synthetic import DIFFICULTIES, planted, subnetworks

    if profiles is not None and profiles not in DIFFICULTIES:
        raise KedgeError(f"no difficulty {profiles!r}", remedy=f"choose one of: {', '.join(DIFFICULTIES)}")
    refuse_directory(out, [*(f"{name}.{format}" for name in _TABLES), *map(_table_of(format), _PROFILES), _FIGURES])
    with Reporter(quiet).open() as reporter:
        if network is not None:
            from kedge.config import resolve
            from kedge.ingest import read_network

            reporter.stage(f"reading {network.name}")
            source, read = read_network(network, resolve(overrides=read_settings(columns=columns)).read)
            for note in read.notes:
                reporter.note(note)
            reporter.stage("sampling sub-networks")
            made = subnetworks(source, alpha_s, alpha_c, seed)
        else:
            left_n, right_n = left_nodes or nodes, right_nodes or nodes
            reporter.stage("planting a pair")
            made = planted(
                left_n,
                right_n,
                anchors if anchors is not None else min(left_n, right_n) * 3 // 4,
                left_edges if left_edges is not None else 5 * left_n,
                right_edges if right_edges is not None else 5 * right_n,
                overlap,
                seed,
            )
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


def _table_of(format: str) -> Callable[[str], str]:
    """The file of a table with names of columns: what is tsv elsewhere is csv."""
    return lambda name: f"{name}.{'csv' if format == 'tsv' else format}"


def write_pair(made: Planted, out: Path, train: float, seed: int, format: str, profiles: str | None = None) -> None:
    """Write a planted pair into a directory: left, right, anchors, train, test, perhaps profiles, and synth.json."""
    from kedge.store import dump_json, translate_disk_errors, write_atomically
    from kedge.synthetic import anchor_table, edge_table, plant_profiles, split

    train_pairs, test_pairs = split(made.anchors, train, seed)
    # Made one at a time, just before writing: at full size each is half a gigabyte.
    tables: tuple[Callable[[], Any], ...] = (
        lambda: edge_table(made.left, seed),
        lambda: edge_table(made.right, seed + 1),
        lambda: anchor_table(made.left, made.right, made.anchors),
        lambda: anchor_table(made.left, made.right, train_pairs),
        lambda: anchor_table(made.left, made.right, test_pairs),
    )
    with translate_disk_errors(out):
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, make in zip(_TABLES, tables, strict=True):
        write_atomically(out / f"{name}.{format}", partial(_dump, make(), format))
    known = () if profiles is None else plant_profiles(made, profiles, seed)
    for name, table in zip(_PROFILES, known, strict=False):
        write_atomically(out / _table_of(format)(name), partial(_dump, table, "csv" if format == "tsv" else format))
    # Last: if it exists, the others are complete.
    stated = {} if profiles is None else {"profiles": profiles}
    figures = {"seed": seed, **stated, "notes": list(made.notes), "realised": dict(made.realised)}
    write_atomically(out / _FIGURES, lambda file: file.write(dump_json(figures).encode()))


def _dump(table: Any, format: str, file: BinaryIO) -> None:
    if format == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    else:
        import pyarrow.csv as arrow_csv

        named = format == "csv"
        options = arrow_csv.WriteOptions(
            include_header=named, delimiter="," if named else "\t", quoting_style="needed" if named else "none"
        )
        arrow_csv.write_csv(table, file, options)
