"""`kedge embed`: MGCN vectors of one network as a file."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from kedge.cli.options import ConfigFile, Debug, Force, Json, Preset, Quiet, Seed, Set, guarded
from kedge.cli.show import Reporter, print_json
from kedge.errors import KedgeError

if TYPE_CHECKING:  # loading it takes torch, and `kedge --help` must not wait for that
    from kedge.hypergraph import Report

__all__ = ["embed"]


@guarded
def embed(
    network: Annotated[Path, typer.Argument(help="The network: CSV, TSV, space-separated (.gz, .zst) or Parquet.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Vectors as .parquet, .csv or .npz.")],
    hypergraph: Annotated[
        Path | None,
        typer.Option("--hypergraph", metavar="FILE", help="Your own hyperedges: rows of account, hyperedge, p."),
    ] = None,
    preset: Preset = "default",
    file: ConfigFile = None,
    assignments: Set = None,
    seed: Seed = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Embed one network with MGCN: one vector an account. Shows the loss beside the loss of saying nothing."""
    kind = out.suffix.removeprefix(".").lower()
    if kind not in ("parquet", "csv", "npz"):
        raise KedgeError(f"no format {kind!r}", file=out, remedy="end the name in .parquet, .csv or .npz")
    from kedge.config import resolve
    from kedge.ingest import read_hypergraph, read_network
    from kedge.store import refuse_overwrite, write_atomically

    refuse_overwrite(out, force)
    config = resolve(preset, file, assignments or (), {} if seed is None else {"seed": seed})
    with Reporter(quiet).open() as reporter:
        reporter.stage(f"reading {network.name}")
        read, _ = read_network(network, config.read)
        own = None if hypergraph is None else read_hypergraph(hypergraph, read, config.read)
        from kedge.hypergraph import DegenerateHypergraphWarning
        from kedge.mgcn import embed as run

        reporter.stage("training")
        total = config.mgcn.steps

        def show(step: int, loss: float, trivial: float) -> None:
            reporter.advance(step, total, f"loss {loss:.3f} (saying nothing: {trivial:.3f})")

        with warnings.catch_warnings():  # said when it is known, before the long training, not after it
            warnings.simplefilter("default", DegenerateHypergraphWarning)
            warnings.showwarning = lambda message, *_: reporter.note(f"warning: {message}")
            fit = run(read, config, config.seed, show, hypergraph=own)
        if fit.hypergraph is not None:
            reporter.note(_describe(fit.hypergraph))
    if fit.verdict == "collapsed":
        raise KedgeError(
            f"the fit collapsed: loss {fit.losses[-1]:.3f} is no better than {fit.trivial:.3f}, that of saying nothing",
            remedy="use the default preset, or mgcn.weighing=mean with mgcn.unit=true",
        )
    write_atomically(out, partial(_dump, read.ids, fit.vectors, kind))
    facts = {
        "file": str(out),
        "accounts": read.n,
        "dimensions": int(fit.vectors.shape[1]),
        "steps": fit.steps,
        "loss": float(fit.losses[-1]) if len(fit.losses) else None,
        "trivial_loss": fit.trivial,
        "held_out_auc": fit.auc,
        "verdict": fit.verdict,
        "hypergraph": None if fit.hypergraph is None else asdict(fit.hypergraph),
    }
    if json:
        print_json(facts)
    else:
        auc = "" if fit.auc is None else f", AUC {fit.auc:.3f} on edges left out"
        print(f"{read.n:,} vectors of {fit.vectors.shape[1]} in {out} ({fit.verdict}, {fit.steps} steps{auc})")


def _describe(said: Report) -> str:
    """A hypergraph in one line: how many, how large, how much of the network, how much memory."""
    outside = f", {said.outside:,} accounts in none" if said.outside else ""
    return (
        f"{said.hyperedges:,} hyperedges of {said.smallest:,} to {said.largest:,} accounts "
        f"(median {said.median:,.0f}), coverage {said.coverage:.2g}{outside}, {said.bytes / 1e6:,.1f} MB"
    )


def _dump(ids: Any, vectors: Any, kind: str, file: BinaryIO) -> None:
    import numpy as np
    import pyarrow as pa

    if kind == "npz":
        np.savez(file, allow_pickle=False, ids=np.array(ids.to_pylist(), dtype=np.str_), vectors=vectors)
    elif kind == "parquet":
        import pyarrow.parquet as pq

        flat = pa.array(np.ascontiguousarray(vectors).ravel())
        columns = {"id": ids, "vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])}
        pq.write_table(pa.table(columns), file, compression="zstd")
    else:
        import pyarrow.csv as arrow_csv

        columns = {"id": ids, **{f"x{i}": pa.array(vectors[:, i]) for i in range(vectors.shape[1])}}
        arrow_csv.write_csv(pa.table(columns), file)
