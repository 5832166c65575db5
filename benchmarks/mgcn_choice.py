"""How MGCN's defaults were chosen: by validation edges, on networks that the tables do not report.

    python benchmarks/mgcn_choice.py          # goes on where an earlier call stopped

From the present defaults one setting at a time is changed. A tenth of each network's edges is left out for validation;
the fit sees the others only and stops by edges that it leaves out of those itself. The score of a setting is the mean
AUC over the networks, which are planted ones and shared ones other than those of benchmarks/mgcn_links.py.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np

from kedge.config import resolve
from kedge.ingest import read_network
from kedge.mgcn import embed
from kedge.mgcn.holdout import Holdout, area_under_curve, hold_out, score_pairs
from kedge.synthetic import planted

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
NETWORKS = ("fb100-swarthmore42", "gemsec-fb-tvshow", "arxiv-multiplex-2-12", "planted")
CHANGES = (
    "",
    "mgcn.levels=none",
    "mgcn.levels=simple",
    "mgcn.levels=hypergraph",
    "mgcn.layers=1",
    "mgcn.layers=3",
    "mgcn.drop_edges=0",
    "mgcn.drop_edges=0.8",
    "mgcn.reweigh=false",
    "mgcn.release=0",
    "mgcn.gate=fixed",
    "mgcn.steps=150 mgcn.patience=4",
    "mgcn.gate=fixed mgcn.release=0 mgcn.steps=150 mgcn.patience=4",
    "mgcn.skip=true",
    "mgcn.theta=paper",
    "mgcn.drop_hyperedges=0.5",
    "mgcn.dropout=0.3",
    "mgcn.dropout=0",
    "hypergraph.sharpness=1",
    "hypergraph.sharpness=0",
    "mgcn.fusion=sum",
    "mgcn.dimensions=64",
)


def open_split(name: str) -> Holdout | None:
    """A network without its validation edges."""
    if name == "planted":
        network = planted(1500, 1500, 1000, 15000, 15000, 0.85, 7).left
    else:
        files = (ROOT / "singles" / name / "edges.tsv", ROOT / "pairs" / name / "left.tsv")
        file = next((file for file in files if file.exists()), None)
        if file is None:
            print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
            return None
        network, _ = read_network(file)
    return hold_out(network, 0.1, np.random.default_rng(1000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", nargs="*", default=CHANGES, help="settings to try, several joined by a space")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.out.mkdir(parents=True, exist_ok=True)
    notes = asked.out / "mgcn-choice.jsonl"
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    known = {line["key"]: line["auc"] for line in lines}
    splits = {name: split for name in asked.networks.split(",") if (split := open_split(name))}
    print(f"{'change':40} {'mean':>7} " + " ".join(f"{name:>20}" for name in splits))
    for change in asked.changes:
        config = resolve(assignments=change.split())
        told = config.model_dump_json(include={"mgcn", "hypergraph"})
        found = []
        for name, split in splits.items():
            key = f"{name} {told}"
            if key not in known:
                X = embed(split.network, config, 0).vectors
                known[key] = area_under_curve(score_pairs(X, split.edges), score_pairs(X, split.non_edges))
                with notes.open("a") as file:
                    file.write(json.dumps({"key": key, "auc": known[key]}) + "\n")
            found.append(known[key])
        print(
            f"{change or '(the defaults)':40} {np.mean(found):7.4f} " + " ".join(f"{auc:20.4f}" for auc in found),
            flush=True,
        )


if __name__ == "__main__":
    main()
