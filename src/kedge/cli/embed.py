"""`kedge embed`: MGCN vectors of one network, or of two in one space, as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.show import Reporter, note_guarded, print_json
from kedge.errors import KedgeError

if TYPE_CHECKING:  # loading them takes torch, and `kedge --help` must not wait for that
    from kedge.config import Config
    from kedge.context import RunContext
    from kedge.embedding.network import NetworkVectors
    from kedge.store import Rows


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
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Embed one network with MGCN: one vector per account. The loss is shown next to that of a constant prediction.

    With a second network and --anchors, both are embedded into one space: vectors of the same person are near.

    A network larger than partition.n_max is trained by parts. Until the file is written, trained parts are saved in
    FILE.parts: the same command again resumes from there.
    """
    if out is None:
        raise KedgeError("no file to write to", remedy="give one with -o, e.g. -o vectors.parquet")
    if (right is None) != (anchors is None):
        raise KedgeError("two networks are embedded by their anchors", remedy="give a second network and --anchors")
    own = {"--hypergraph": hypergraph, "--profiles": profiles}
    for option in (name for name, path in own.items() if right is not None and path is not None):
        raise KedgeError(f"{option} is of one network", remedy="leave it out, or embed each network alone")
    from kedge.config import resolve
    from kedge.context import RunContext
    from kedge.ingest import guard_table
    from kedge.store import DiskCache, refuse_overwrite, vector_files, write_vectors

    files = vector_files(out)
    if card is not None and card.suffix.lower() not in (".md", ".json"):
        raise KedgeError(
            f"no format {card.suffix!r} for a model card", file=card, remedy="end its name in .md or .json"
        )
    for path in (*files, *((card,) if card is not None else ())):
        refuse_overwrite(path, force)
    given = options.engine_settings(engine, address, (tls_ca, tls_cert, tls_key), workers, max_memory)
    given |= options.read_settings(max_input_memory, columns)
    given |= {} if seed is None else {"seed": seed}
    config = resolve(preset, file, assignments or (), given)
    with Reporter(quiet).open() as reporter:
        cache = DiskCache(out.with_name(f"{out.name}.parts"), reporter.note)
        context = RunContext(cache, reporter)
        if right is None:
            rows, facts = _embed_one(network, hypergraph, profiles, config, context)
        else:
            rows, facts = _embed_two(network, right, anchors, config, context)
    changed = 0
    if out.suffix.lower() == ".csv" and not raw:
        import pyarrow as pa

        guarded = [guard_table(pa.table({"id": one.ids})) for one in rows]
        changed = sum(cells for _, cells in guarded)
        rows = tuple(one._replace(ids=ids["id"].combine_chunks()) for one, (ids, _) in zip(rows, guarded, strict=True))
    write_vectors(out, rows)
    note_guarded(changed)
    if card is not None:
        sources = {"network" if right is None else "left network": network}
        sources |= {"right network": right} if right is not None else {}
        others = {"anchors": anchors, "hypergraph": hypergraph, "profiles": profiles}
        sources |= {name: path for name, path in others.items() if path is not None}
        _write_card(card, sources, facts, config, preset, out)
    cache.clear()
    _print_facts(out, facts, json)


def _embed_one(
    network: Path, hypergraph: Path | None, profiles: Path | None, config: Config, context: RunContext
) -> tuple[tuple[Rows, ...], list[dict[str, Any]]]:
    from kedge.pipeline.embed import embed as fit_vectors
    from kedge.store import Rows

    made = fit_vectors(network, config, context, hypergraph=hypergraph, profiles=profiles, name=network.name)
    if len(made.fit.hyperedges) == 1 and made.fit.hyperedges[0] is not None:
        context.progress.note(_describe(made.fit.hyperedges[0]))
    return (Rows("", made.ids, made.vectors),), [_facts(network.name, made.edges, made.fit)]


def _embed_two(
    left: Path, right: Path, anchors: Path | None, config: Config, context: RunContext
) -> tuple[tuple[Rows, ...], list[dict[str, Any]]]:
    from kedge.pipeline import Inputs
    from kedge.pipeline.embed import embed_pair
    from kedge.store import Rows

    made = embed_pair(Inputs(left, right, anchors), config, context)
    sides = (("left", made.problem.left, made.left), ("right", made.problem.right, made.right))
    rows = tuple(Rows(side, network.ids, vectors) for side, network, vectors in sides)
    facts = []
    for side, network, vectors in sides:
        curve = made.training.get("curves", {}).get("loss", {}).get(side) or []
        trivial = made.training.get("curves", {}).get("loss", {}).get("trivial") or [None]
        facts.append(
            {
                "name": f"the {side} network",
                "accounts": network.n,
                "edges": network.edges,
                "dimensions": vectors.shape[1],
                "anchors": len(made.problem.anchors),
                "steps": max(made.training.get("steps", {}).get(side) or [0]),
                "loss": _five(curve),
                "trivial_loss": trivial[0],
                "levels": made.training.get("levels", {}).get(side),
                "builders": made.training.get("builders", {}).get(
                    side, made.training.get("builders", {}).get("both networks")
                ),
            }
        )
    return rows, facts


def _facts(name: str, edges: int, fit: NetworkVectors) -> dict[str, Any]:
    import numpy as np

    n, d = fit.vectors.shape
    # Of several parts the mean by their accounts.
    weights = np.bincount(fit.parts.part, minlength=len(fit.losses)).astype(float)
    trained = [p for p, curve in enumerate(fit.losses) if len(curve)]
    judged = [auc for p in trained if (auc := fit.auc[p]) is not None]
    auc = float(np.average(judged, weights=weights[trained])) if judged and len(judged) == len(trained) else None
    return {
        "name": name,
        "accounts": n,
        "edges": edges,
        "dimensions": d,
        "parts": len(fit.losses),
        "steps": max(fit.steps),
        "loss": _five(fit.curve),
        "trivial_loss": fit.trivial,
        "held_out_auc": auc,
        "largest_residual": float(fit.residuals.max()),
        "verdict": "trained" if trained else "nothing to learn",
        "levels": fit.level_shares,
        "builders": None if fit.choice is None else fit.choice.facts(),
        "hypergraph": fit.hyperedges[0] if len(fit.hyperedges) == 1 else list(fit.hyperedges),
    }


def _five(curve: list[float]) -> list[float]:
    """The loss at five steps, from the first to the last."""
    return [curve[i] for i in sorted({round(i * (len(curve) - 1) / 4) for i in range(5)})] if curve else []


def _write_card(
    path: Path, inputs: Mapping[str, Path], facts: list[dict[str, Any]], config: Config, preset: str, out: Path
) -> None:
    from kedge.pipeline import as_markdown, model_card
    from kedge.store import dump_json, write_atomically

    made = model_card(inputs, facts, config, preset, out)
    text = dump_json(made) if path.suffix.lower() == ".json" else as_markdown(made)
    write_atomically(path, lambda file: file.write(text.encode()))


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


def _describe(facts: Mapping[str, Any]) -> str:
    """A hypergraph in one line: number and size of hyperedges, coverage, memory."""
    outside = f", {facts['outside']:,} accounts in none" if facts["outside"] else ""
    return (
        f"{facts['hyperedges']:,} hyperedges of {facts['smallest']:,} to {facts['largest']:,} accounts "
        f"(median {facts['median']:,.0f}), coverage {facts['coverage']:.2g}{outside}, {facts['bytes'] / 1e6:,.1f} MB"
    )
