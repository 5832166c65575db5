"""`kedge match`: two networks matched into a run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_metrics, print_table

_OWN = "Your own hyperedges of the {} network: rows of account, hyperedge, p."
LeftHypergraph = Annotated[Path | None, typer.Option("--left-hypergraph", metavar="FILE", help=_OWN.format("left"))]
RightHypergraph = Annotated[Path | None, typer.Option("--right-hypergraph", metavar="FILE", help=_OWN.format("right"))]
Test = Annotated[Path | None, typer.Option("--test", help="Held-out pairs; used for evaluation only.")]


@options.guarded
def match(
    left: options.Left,
    right: options.Right,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="The run directory.")],
    anchors: options.Anchors = None,
    test: Test = None,
    columns: options.Columns = None,
    left_columns: options.LeftColumns = None,
    right_columns: options.RightColumns = None,
    anchor_columns: options.AnchorColumns = None,
    skip_bad_rows: options.SkipBadRows = False,
    left_hypergraph: LeftHypergraph = None,
    right_hypergraph: RightHypergraph = None,
    left_profiles: options.LeftProfiles = None,
    right_profiles: options.RightProfiles = None,
    compare: options.Compare = None,
    method: options.Method = None,
    preset: options.Preset = "default",
    file: options.ConfigFile = None,
    assignments: options.Set = None,
    seed: options.Seed = None,
    counterparts: options.Counterparts = None,
    engine: options.Engine = None,
    address: options.Address = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    workers: options.Workers = None,
    max_memory: options.MaxMemory = None,
    max_input_memory: options.MaxInputMemory = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    json_progress: options.JsonProgress = False,
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Match two networks: ranked candidates, probabilities and one-to-one matches in a run directory.

    The same command again resumes an interrupted run, or shows the results of a finished one. What `kedge decide` chose
    and the held-out pairs of an earlier --test or `kedge evaluate` stay in force; --force starts anew.
    """
    from kedge.config import checked_share, resolve
    from kedge.pipeline import Inputs, match_to_run

    given = {name: value for name, value in (("method", method), ("seed", seed)) if value is not None}
    given |= options.engine_settings(engine, address, (tls_ca, tls_cert, tls_key), workers, max_memory)
    given |= options.read_settings(
        max_input_memory, columns, left_columns, right_columns, anchor_columns, skip_bad_rows
    )
    given |= options.profile_settings(compare)
    given |= {} if counterparts is None else {"decide.counterparts": checked_share(counterparts)}
    config = resolve(preset, file, assignments or (), given)
    inputs = Inputs(left, right, anchors, test, (left_hypergraph, right_hypergraph), (left_profiles, right_profiles))
    with Reporter(quiet, json_progress).open() as reporter:
        summary = match_to_run(inputs, out, config, force=force, progress=reporter)
    print_summary(summary, json)


def print_summary(summary: dict[str, Any], json: bool) -> None:
    """What a match has given: JSON, or the surest pairs and the metrics."""
    if json:
        print_json(summary)
        return
    from kedge.pipeline import load_table

    title, decision = f"{summary['matches']:,} matches; the surest of them", "match"
    if not summary["matches"]:
        title, decision = "No matches; the surest pairs for review", "review"
    surest = _surest(load_table(Path(summary["run"]), candidates=1), decision)
    rows = [
        (r["left"], r["right"], f"{r['probability']:.3f}", f"{r['score']:.2f}", f"{r['margin']:.2f}") for r in surest
    ]
    if rows:
        print_table(title, ("left", "right", "probability", "score", "margin"), rows)
    else:
        print("No matches, and no pair that is worth a review")
    print_metrics(summary["metrics"])
    print(
        f"Everything is in {summary['run']} ({summary['cpu_seconds']:.1f} CPU seconds, {summary['peak_mb']:.0f} MB). "
        f"Look at {summary['report']} in a browser. Next: kedge export {summary['run']} -o matches.csv"
    )


def _surest(table: Any, decision: str) -> list[dict[str, Any]]:
    """The ten most probable rows of a table of matches with a decision."""
    from pyarrow import compute, string

    decided = table.filter(compute.equal(compute.cast(table["decision"], string()), decision))
    order = [("probability", "descending"), ("left", "ascending"), ("right", "ascending")]
    rows: list[dict[str, Any]] = decided.sort_by(order).slice(0, 10).to_pylist()
    return rows
