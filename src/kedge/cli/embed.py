"""`kedge embed`: MGCN vectors of one network as a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from kedge.cli import options
from kedge.cli.show import Reporter, note_guarded, print_json
from kedge.errors import KedgeError

if TYPE_CHECKING:  # loading it takes torch, and `kedge --help` must not wait for that
    from kedge.embedding.network import NetworkVectors


@options.guarded
def embed(
    network: Annotated[Path, typer.Argument(help="The network: CSV, TSV, space-separated (.gz, .zst) or Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Vectors as .parquet, .csv or .npz.")],
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

    A network larger than partition.n_max is trained by parts. Until the file is written, trained parts are saved in
    FILE.parts: the same command again resumes from there.
    """
    kind = out.suffix.removeprefix(".").lower()
    if kind not in ("parquet", "csv", "npz"):
        raise KedgeError(f"no format {kind!r}", file=out, remedy="end the name in .parquet, .csv or .npz")
    import pyarrow as pa

    from kedge.config import resolve
    from kedge.context import RunContext
    from kedge.ingest import guard_table
    from kedge.pipeline.embed import embed as fit_vectors
    from kedge.store import DiskCache, refuse_overwrite, write_atomically

    refuse_overwrite(out, force)
    given = options.engine_settings(engine, address, (tls_ca, tls_cert, tls_key), workers, max_memory)
    given |= options.read_settings(max_input_memory, columns)
    given |= {} if seed is None else {"seed": seed}
    config = resolve(preset, file, assignments or (), given)
    with Reporter(quiet).open() as reporter:
        cache = DiskCache(out.with_name(f"{out.name}.parts"), reporter.note)
        context = RunContext(cache, reporter)
        made = fit_vectors(network, config, context, hypergraph=hypergraph, profiles=profiles, name=network.name)
        if len(made.fit.hyperedges) == 1 and made.fit.hyperedges[0] is not None:
            reporter.note(_describe(made.fit.hyperedges[0]))
    ids = pa.table({"id": made.ids})
    ids, changed = guard_table(ids) if kind == "csv" and not raw else (ids, 0)
    write_atomically(out, partial(_dump, ids["id"], made.vectors, kind))
    note_guarded(changed)
    cache.clear()
    _print_facts(out, made.fit, json)


def _print_facts(out: Path, fit: NetworkVectors, json: bool) -> None:
    import numpy as np

    n, d = fit.vectors.shape
    # Of several parts the mean by their accounts.
    weights = np.bincount(fit.parts.part, minlength=len(fit.losses)).astype(float)
    trained = [p for p, curve in enumerate(fit.losses) if len(curve)]

    def mean(values: list[float]) -> float | None:
        return float(np.average(values, weights=weights[trained])) if values else None

    judged = [fit.auc[p] for p in trained]
    auc = None if None in judged else mean([a for a in judged if a is not None])
    facts = {
        "file": str(out),
        "accounts": n,
        "dimensions": d,
        "parts": len(fit.losses),
        "steps": max(fit.steps),
        "loss": mean([float(fit.losses[p][-1]) for p in trained]),
        "trivial_loss": fit.trivial,
        "held_out_auc": auc,
        "largest_residual": float(fit.residuals.max()),
        "verdict": "trained" if trained else "nothing to learn",
        "hypergraph": fit.hyperedges[0] if len(fit.hyperedges) == 1 else list(fit.hyperedges),
    }
    if json:
        print_json(facts)
        return
    parts = "" if len(fit.losses) == 1 else f", {len(fit.losses)} parts"
    judgement = "" if auc is None else f", AUC {auc:.3f} on held-out edges"
    print(f"{n:,} vectors of {d} in {out} ({facts['verdict']}{parts}, {facts['steps']} steps{judgement})")


def _describe(facts: Mapping[str, Any]) -> str:
    """A hypergraph in one line: number and size of hyperedges, coverage, memory."""
    outside = f", {facts['outside']:,} accounts in none" if facts["outside"] else ""
    return (
        f"{facts['hyperedges']:,} hyperedges of {facts['smallest']:,} to {facts['largest']:,} accounts "
        f"(median {facts['median']:,.0f}), coverage {facts['coverage']:.2g}{outside}, {facts['bytes'] / 1e6:,.1f} MB"
    )


def _dump(ids: Any, vectors: Any, kind: str, file: BinaryIO) -> None:
    import numpy as np
    import pyarrow as pa

    if kind == "npz":
        np.savez(file, allow_pickle=False, ids=np.array(ids.to_pylist(), dtype=np.str_), vectors=vectors)
    elif kind == "parquet":
        import pyarrow.parquet as pq

        flat = pa.array(np.ascontiguousarray(vectors).ravel())
        columns = {"id": ids.combine_chunks(), "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])}
        pq.write_table(pa.table(columns), file, compression="zstd")
    else:
        from kedge.ingest import write_delimited

        columns = {"id": ids, **{f"x{i}": pa.array(vectors[:, i]) for i in range(vectors.shape[1])}}
        write_delimited(pa.table(columns), file)
