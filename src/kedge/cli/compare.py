"""`kedge compare`: which method is best on my data?"""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.cli.help_text import completing, method_names
from kedge.cli.options import (
    AnchorColumns,
    Columns,
    Compare,
    ConfigFile,
    Debug,
    Force,
    Json,
    JsonProgress,
    LeftColumns,
    LeftProfiles,
    Quiet,
    RightColumns,
    RightProfiles,
    Set,
    SkipBadRows,
    guarded,
    profile_settings,
    read_settings,
)
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table

if TYPE_CHECKING:
    from kedge.experiments import Comparison

Workers = Annotated[int, typer.Option("--workers", "-w", help="Cells measured at the same time; 0: one per core.")]
OutputDirectory = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Save every cell there; the same command again resumes."),
]


@guarded
def compare(
    left: Annotated[Path | None, typer.Argument(help="The left network.")] = None,
    right: Annotated[Path | None, typer.Argument(help="The right network.")] = None,
    anchors: Annotated[Path | None, typer.Option("--anchors", "-a", help="Known pairs: left id, right id.")] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Held-out pairs; then all anchors are observed.")] = None,
    columns: Columns = None,
    left_columns: LeftColumns = None,
    right_columns: RightColumns = None,
    anchor_columns: AnchorColumns = None,
    skip_bad_rows: SkipBadRows = False,
    left_profiles: LeftProfiles = None,
    right_profiles: RightProfiles = None,
    fields: Compare = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead of files: a folder with left.tsv, right.tsv, anchors.tsv."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="With --data: a split under splits/, e.g. off20.")] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            help=f"Names, separated by commas; NAME:paper for the paper's preset; all by default: "
            f"{', '.join(method_names())}.",
            autocompletion=completing(method_names),
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="The number of seeds; each has its own split.")] = 5,
    train: Annotated[float | None, typer.Option(help="The share of observed anchors; 0.2 by default.")] = None,
    out: OutputDirectory = None,
    plot: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Draw the comparison, repeatable: .png, .svg or .pdf."),
    ] = None,
    workers: Workers = 1,
    file: ConfigFile = None,
    assignments: Set = None,
    listed: Annotated[bool, typer.Option("--list", help="List the methods and exit.")] = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    json_progress: JsonProgress = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Compare methods on your own data: the same splits, the same evaluation, mean and spread over seeds, CPU, memory.

    Each cell (one method under one seed) runs in its own process and is saved in DIR; the same command again resumes.
    """
    if listed:
        _list_methods(json)
        return
    from kedge import experiments
    from kedge.methods import METHODS
    from kedge.store import refuse_directory

    experiments.check_seeds(seeds)
    for picture in plot or ():
        experiments.check_picture(picture, force)
    if out is not None:
        refuse_directory(out)
    many = experiments.check_workers(workers)
    variants = experiments.parse_methods(methods or ",".join(METHODS))
    pair = experiments.find_pair((left, right, anchors, test), data, split)
    pair = experiments.add_profiles(pair, left_profiles, right_profiles)
    chosen = read_settings(None, columns, left_columns, right_columns, anchor_columns, skip_bad_rows)
    named = [f"{name}={value}" for name, value in chosen.items()]
    named += [f"{name}={dumps(list(value))}" for name, value in profile_settings(fields).items()]
    overrides = experiments.Overrides((*(assignments or ()), *named), file)
    plan = experiments.Plan(pair, experiments.find_shares(pair, train), variants, tuple(range(seeds)), overrides)
    with Reporter(quiet, json_progress).open() as reporter:
        reporter.stage("reading")
        for note in experiments.check_plan(plan):
            reporter.note(note)
        reporter.stage(f"measuring {len(variants)} methods under {seeds} seeds")
        found = experiments.compare_methods(plan, experiments.Execution(out, many, experiments.count_cells(reporter)))
    if out is not None:
        experiments.write_comparison(out, found)
    experiments.write_files(
        {
            picture: experiments.draw_comparison(found, picture.suffix.removeprefix(".").lower())
            for picture in plot or ()
        }
    )
    if json:
        print_json(found.plain())
    else:
        _print_comparison(found)


def _print_comparison(found: Comparison) -> None:
    from kedge.experiments import compared_rows

    many = len(found.seeds)
    facts = next((cell.facts for cells in found.cells for cell in cells if cell.facts), None)
    title = f"{many} seed{'s' if many > 1 else ''}"
    if facts:
        title = f"{facts['observed']:,} anchors observed, {facts['held_out']:,} held out; " + title
    print_table(title, *compared_rows(found, brief=True))
    for entry in found.entries:
        if entry.summary.reason:
            print(f"{entry.method}: {entry.summary.reason}.")


def _list_methods(json: bool) -> None:
    from kedge.methods import METHODS

    about = {m.name: f"{m.about} ({m.paper})" if m.paper else m.about for m in METHODS.values()}
    if json:
        print_json(about)
    else:
        print_table("Methods", ("name", "what it is"), list(about.items()), left=2)
