"""`kedge embed`: MGCN vectors of one network, or of two in one space, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError


@options.guarded
def embed(
    network: Annotated[Path, typer.Argument(help="The network: CSV, TSV, space-separated (.gz, .zst) or Parquet.")],
    right: Annotated[
        Path | None, typer.Argument(help="A second network, brought into the space of the first by --anchors.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Vectors as .parquet, .csv, .npz, .npy, .txt or .vec (word2vec), .safetensors.",
        ),
    ] = None,
    anchors: options.Anchors = None,
    card: Annotated[
        Path | None,
        typer.Option("--card", metavar="FILE", help="Write a model card too, as .md or .json: data, training, limits."),
    ] = None,
    columns: options.Columns = None,
    hypergraph: Annotated[
        Path | None,
        typer.Option("--hypergraph", metavar="FILE", help="Your own hyperedges: rows of account, hyperedge, p."),
    ] = None,
    profiles: Annotated[
        Path | None,
        typer.Option("--profiles", metavar="FILE", help="What else is known of accounts, for profile hyperedges."),
    ] = None,
    preset: options.Preset = "default",
    file: options.ConfigFile = None,
    assignments: options.Set = None,
    seed: options.Seed = None,
    engine: options.Engine = None,
    address: options.Address = None,
    tls_ca: options.TlsCa = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    workers: options.Workers = None,
    max_memory: options.MaxMemory = None,
    max_input_memory: options.MaxInputMemory = None,
    raw: options.Raw = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    json_progress: options.JsonProgress = False,
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Embed one network with MGCN: one vector per account. The loss is shown next to that of a constant prediction.

    With a second network and --anchors, both are embedded into one space: vectors of the same person are near.

    A network larger than partition.n_max is trained by parts. Until the file is written, trained parts are saved in
    FILE.parts: the same command again resumes from there.
    """
    if out is None:
        raise KedgeError("no file to write to", remedy="give one with -o, e.g. -o vectors.parquet")
    from kedge.config import resolve
    from kedge.context import RunContext
    from kedge.pipeline.vector_files import Request, check_targets, embed_request, write_embedded
    from kedge.store import DiskCache

    asked = Request(network, right, anchors, hypergraph, profiles)
    asked.check()
    check_targets(out, card, force)
    given = options.engine_settings(engine, address, (tls_ca, tls_cert, tls_key), workers, max_memory)
    given |= options.read_settings(max_input_memory, columns)
    given |= {} if seed is None else {"seed": seed}
    config = resolve(preset, file, assignments or (), given)
    with Reporter(quiet, json_progress).open() as reporter:
        cache = DiskCache(out.with_name(f"{out.name}.parts"), reporter.note)
        made = embed_request(asked, config, RunContext(cache, reporter))
    note_guarded(write_embedded(made, asked, out, card, preset, raw=raw))
    cache.clear()
    _print_facts(out, list(made.facts), json)


def _print_facts(out: Path, facts: list[dict[str, Any]], json: bool) -> None:
    if json:
        shown = [{**one, "loss": one["loss"][-1] if one["loss"] else None, "losses": one["loss"]} for one in facts]
        print_json({"file": str(out), **(shown[0] if len(shown) == 1 else {"networks": shown})})
        return
    if len(facts) == 2:
        left, right = facts
        print(
            f"{left['accounts']:,} and {right['accounts']:,} vectors of {left['dimensions']} in {out} "
            f"(one space, by {left['anchors']:,} anchors)"
        )
        return
    (one,) = facts
    parts = "" if one["parts"] == 1 else f", {one['parts']} parts"
    judgement = "" if one["held_out_auc"] is None else f", AUC {one['held_out_auc']:.3f} on held-out edges"
    print(
        f"{one['accounts']:,} vectors of {one['dimensions']} in {out} "
        f"({one['verdict']}{parts}, {one['steps']} steps{judgement})"
    )
