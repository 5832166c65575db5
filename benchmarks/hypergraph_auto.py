"""Hyperedges that `hypergraph.builders = auto` chooses against every fixed builder, by held-out edges.

    python benchmarks/hypergraph_auto.py                                # all of it; what is kept is not measured again
    python benchmarks/hypergraph_auto.py --networks cora/left --builders auto,neighbourhood
    python benchmarks/hypergraph_auto.py --page

A tenth of the edges of a network are test edges (never an account's last one), with as many pairs that are no edges.
Each fit sees the other edges, and chooses and stops by edges that it holds out of those itself. AUC of x_i · x_j with
the defaults of `kedge embed`, CPU seconds of the whole fit, with the trials of `auto`. Figures are added to
docs/results/hypergraph_auto.json one by one; `--page` writes the table of docs/mgcn.md from them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measuring import keep_rows, read_rows, write_between

from kedge.config import resolve
from kedge.embedding.network import embed_network
from kedge.embedding.plan import Source
from kedge.ingest import read_network
from kedge.mgcn.holdout import hold_out

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
KEPT = Path(__file__).parents[1] / "docs" / "results" / "hypergraph_auto.json"
PAGE = Path(__file__).parents[1] / "docs" / "mgcn.md"
MARK = "benchmarks/hypergraph_auto.py"
# A file of a pair, or a single network; small ones, since a fit of each builder is needed.
NETWORKS = (
    "arenas95/left", "phone-email/left", "phone-email/right", "cora/left", "fb100-haverford76", "gemsec-fb-tvshow",
)  # fmt: skip
BUILDERS = (
    "neighbourhood", "neighbourhood:8", "neighbourhood:128", "communities", "nearest", "centrality", "latent", "auto",
)  # fmt: skip


def measure(name: str, builders: str, seed: int) -> dict[str, Any]:
    """One fit."""
    path = ROOT / "pairs" / f"{name}.tsv" if "/" in name else ROOT / "singles" / name / "edges.tsv"
    network, _ = read_network(path)
    split = hold_out(network, 0.1, np.random.default_rng(seed))
    assert split is not None
    config = resolve(assignments=[f"hypergraph.builders={builders}"])
    before = time.process_time()
    fit = embed_network(Source(split.network, np.empty(0, np.int64), seed, name), config)
    spent = time.process_time() - before
    row = {"auc": round(split.judge(fit.vectors), 4), "cpu": round(spent, 1)}
    return row if fit.choice is None else {**row, "chosen": fit.choice.builders, "trials": fit.choice.facts()["trials"]}


def page(rows: list[dict[str, Any]]) -> Iterator[str]:
    """One row per network: every builder, what was chosen, what it took; the best fixed one in bold."""
    columns = ("network", *(f"`{name}`" for name in BUILDERS), "chosen", "CPU s, `neighbourhood`", "CPU s, `auto`")
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for name in NETWORKS:
        mine = [row for row in rows if row["network"] == name]
        auc = {one: [row["auc"] for row in mine if row["builders"] == one] for one in BUILDERS}
        if not any(auc.values()):
            continue
        mean = {one: sum(found) / len(found) for one, found in auc.items() if found}
        best = max((value for one, value in mean.items() if one != "auto"), default=0.0)
        cells = [_cell(mean.get(one), one != "auto" and mean.get(one) == best) for one in BUILDERS]
        chosen = [row["chosen"] for row in mine if row["builders"] == "auto"]
        cells.append(", ".join(f"`{one}`" for one in dict.fromkeys(chosen)) or "-")
        for one in ("neighbourhood", "auto"):
            cpu = [row["cpu"] for row in mine if row["builders"] == one]
            cells.append(f"{sum(cpu) / len(cpu):.0f}" if cpu else "-")
        yield "| " + " | ".join((name, *cells)) + " |"


def _cell(value: float | None, best: bool) -> str:
    return "-" if value is None else f"**{value:.4f}**" if best else f"{value:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--builders", default=",".join(BUILDERS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write the table of docs/mgcn.md from what is kept")
    parser.add_argument("--results", type=Path, default=KEPT)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.page:
        write_between(PAGE, MARK, "\n".join(page(read_rows(asked.results))) + "\n")
        return
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    for seed in range(asked.seeds):
        for name in asked.networks.split(","):
            for builders in asked.builders.split(","):
                cell = {"network": name, "builders": builders, "seed": seed}
                if any(all(row[mark] == cell[mark] for mark in cell) for row in read_rows(asked.results)):
                    continue
                row = {**cell, **measure(name, builders, seed)}
                print(json.dumps(row), flush=True)
                row |= {"commit": head, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
                keep_rows(asked.results, [*read_rows(asked.results), row])


if __name__ == "__main__":
    main()
