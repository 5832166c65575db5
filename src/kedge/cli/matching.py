"""`kedge match`, `demo` and `evaluate`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli.options import (
    Address,
    Anchors,
    ConfigFile,
    Debug,
    Engine,
    Force,
    Json,
    Left,
    MaxMemory,
    Preset,
    Quiet,
    Right,
    RunDirectory,
    Seed,
    Set,
    Workers,
    engine_settings,
    guarded,
)
from kedge.cli.reporting import write_report
from kedge.cli.show import Reporter, print_json, print_table

if TYPE_CHECKING:  # loading them takes a while, and `kedge --help` must not wait for that
    from pyarrow import Table

    from kedge.pipeline import Inputs

__all__ = ["demo", "evaluate", "match"]

_OWN = "Your own hyperedges of the {} network: rows of account, hyperedge, p."
LeftHypergraph = Annotated[Path | None, typer.Option("--left-hypergraph", metavar="FILE", help=_OWN.format("left"))]
RightHypergraph = Annotated[Path | None, typer.Option("--right-hypergraph", metavar="FILE", help=_OWN.format("right"))]
Test = Annotated[Path | None, typer.Option("--test", help="Held-out pairs; used for evaluation only.")]


@guarded
def match(
    left: Left,
    right: Right,
    anchors: Anchors,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="The run directory.")],
    test: Test = None,
    left_hypergraph: LeftHypergraph = None,
    right_hypergraph: RightHypergraph = None,
    method: Annotated[str | None, typer.Option(help="What scores the pairs.")] = None,
    preset: Preset = "default",
    file: ConfigFile = None,
    assignments: Set = None,
    seed: Seed = None,
    engine: Engine = None,
    address: Address = None,
    workers: Workers = None,
    max_memory: MaxMemory = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Match two networks: ranked candidates, probabilities and one-to-one matches in a run directory.

    The same command again resumes an interrupted run, or shows the results of a finished one.
    """
    from kedge.config import resolve

    given = {name: value for name, value in (("method", method), ("seed", seed)) if value is not None}
    given |= engine_settings(engine, address, workers, max_memory)
    config = resolve(preset, file, assignments or (), given)
    from kedge.pipeline import Inputs

    inputs = Inputs(left, right, anchors, test, (left_hypergraph, right_hypergraph))
    _match(inputs, out, config, force, json, quiet)


def _match(inputs: Inputs, out: Path, config: Any, force: bool, json: bool, quiet: bool) -> None:
    from kedge.pipeline import load_contents, match_to_run
    from kedge.pipeline.layout import REPORT

    with Reporter(quiet).open() as reporter:
        summary = match_to_run(inputs, out, config, force=force, progress=reporter)
        reporter.stage("writing the report")
        summary["report"] = str(write_report(load_contents(out), out / REPORT))
    if json:
        print_json(summary)
    else:
        _print_summary(summary)


def _print_summary(summary: dict[str, Any]) -> None:
    from kedge.store import TABLE

    table = TABLE.load(Path(summary["run"]) / "matches.parquet")
    title, decision = f"{summary['matches']:,} matches; the surest of them", "match"
    if not summary["matches"]:
        title, decision = "No matches; the surest pairs for review", "review"
    print_table(
        title,
        ("left", "right", "probability", "score", "margin"),
        [
            (r["left"], r["right"], f"{r['probability']:.3f}", f"{r['score']:.2f}", f"{r['margin']:.2f}")
            for r in _surest(table, decision)
        ],
    )
    _print_metrics(summary["metrics"])
    print(
        f"Everything is in {summary['run']} ({summary['cpu_seconds']:.1f} CPU seconds, {summary['peak_mb']:.0f} MB). "
        f"Look at {summary['report']} in a browser. Next: kedge export {summary['run']} --candidates 5 -o matches.csv"
    )


def _surest(table: Table, decision: str) -> list[dict[str, Any]]:
    """The ten most probable rows with a decision."""
    from pyarrow import compute, string

    decided = table.filter(compute.equal(compute.cast(table["decision"], string()), decision))
    order = [("probability", "descending"), ("left", "ascending"), ("right", "ascending")]
    rows: list[dict[str, Any]] = decided.sort_by(order).slice(0, 10).to_pylist()
    return rows


def _print_metrics(metrics: dict[str, Any]) -> None:
    if not metrics["test_pairs"]:
        return

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    forth, back = metrics["left_to_right"], metrics["right_to_left"]
    print_table(
        f"On {metrics['test_pairs']:,} held-out pairs",
        ("", "left to right", "right to left", "mean"),
        [
            (name, shown(forth[name]), shown(back[name]), shown(metrics[name]))
            for name in ("hits1", "hits5", "hits10", "mrr")
        ],
    )
    names = {
        "matched_hits1": "assigned their true partner",
        "precision": "of all assigned pairs, right",
        "match_precision": "of the pairs called a match, right",
        "match_sample_precision": "the same at most, if only some of the true pairs were held out",
        "match_recall": "of the held-out pairs, called a match",
        "macro_f1": "Macro-F1, true against random pairs",
        "ece": "calibration error (ECE)",
    }
    # A run of an earlier version knows fewer of them.
    print_table("", ("", ""), [(words, shown(metrics.get(name))) for name, words in names.items()])


@guarded
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="The run directory.")] = Path("demo-run"),
    seed: Annotated[int, typer.Option(help="Another seed, another pair.")] = 0,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """The main job on a pair that is planted on the spot: matches, metrics and a run directory in under a minute."""
    import tempfile

    from kedge.cli.synthesis import write_pair
    from kedge.config import resolve
    from kedge.pipeline import Inputs
    from kedge.synth import planted

    config = resolve(overrides={"seed": seed})
    with tempfile.TemporaryDirectory(prefix="kedge-demo-") as folder:
        place = Path(folder)
        made = planted(2000, 2000, 1500, 10_000, 10_000, 0.7, seed)
        write_pair(made, place, 0.2, seed, "tsv")
        left, right, train, test = (place / f"{name}.tsv" for name in ("left", "right", "train", "test"))
        _match(Inputs(left, right, train, test), out, config, force, json, quiet)


@guarded
def evaluate(
    run: RunDirectory,
    test: Annotated[Path, typer.Option("--test", help="Held-out pairs: left id, right id.")],
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Measure a finished run on held-out pairs."""
    from kedge.ingest import read_pairs, resolve_test
    from kedge.pipeline import load_run, measure

    solution, config, _ = load_run(run)
    pairs, notes = resolve_test(read_pairs(test, config.read), solution.problem)
    metrics = measure(solution, pairs, config.seed)
    if json:
        print_json(metrics)
        return
    for note in notes:
        Reporter().note(note)
    _print_metrics(metrics)
