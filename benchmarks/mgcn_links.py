"""How well vectors foresee edges: MGCN and its levels against DeepWalk and PALE-style vectors of the same d.

    python benchmarks/mgcn_links.py                       # all of it; goes on where an earlier call stopped
    python benchmarks/mgcn_links.py --left-out 0.5        # where few edges are seen
    python benchmarks/mgcn_links.py --methods "paper preset" --networks ego-facebook

A share of the edges is left out as test (never an account's last one), with as many pairs drawn uniformly that are
no edges. Each method sees the other edges only, and stops or chooses by edges that it leaves out of those itself.
AUC of x_i · x_j; for DeepWalk and PALE of the cosine too, the better of the two on the test edges being theirs.
"Few edges" is the AUC over those test pairs of which an end has at most 5 edges left, the others being as they are.
The paper's preset has its own d and says its loss against the trivial one, the loss of vectors that say nothing.
Each result is a line of a file under --out, so that a stopped run is taken up again and a finished one only printed.
`--keep` adds those of MGCN and its levels to docs/results/mgcn_links.json, and `--page` writes docs/mgcn.md's table.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measuring import keep_rows, read_rows, write_between

from kedge.config import BaselineConfig, Config, resolve
from kedge.ingest import read_network
from kedge.linalg.sparse import unit_rows
from kedge.methods.shared.skip_gram import walk_vectors
from kedge.mgcn import embed
from kedge.mgcn.holdout import Holdout, area_under_curve, hold_out, score_pairs

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))
NETWORKS = ("ego-facebook", "fb100-hamilton46", "gemsec-fb-government")
# First-order vectors by Eq. 10 alone, as PALE learns them: nothing convolves, nothing is dropped.
PALE = ["levels=none", "dropout=0", "drop_output=0", "unit=false", "learning_rate=0.01", "steps=300", "patience=8"]
PALE += ["release=0"]
METHODS = {
    "DeepWalk": None,
    "PALE-style": [f"mgcn.{setting}" for setting in PALE],
    "MGCN": [],
    "simple level only": ["mgcn.levels=simple"],
    "hypergraph level only": ["mgcn.levels=hypergraph"],
    "no level": ["mgcn.levels=none"],
    "paper preset": [],
}
LEVELS = ("MGCN", "simple level only", "hypergraph level only")
KEPT = Path(__file__).parents[1] / "docs" / "results" / "mgcn_links.json"
PAGE = Path(__file__).parents[1] / "docs" / "mgcn.md"
DEFAULT_METHODS = [name for name in METHODS if name != "paper preset"]
FEW = 5


def choose_settings(method: str, assignments: list[str], walks: int) -> Config | BaselineConfig:
    """What a method runs with; DeepWalk's walks are as long, and look as far, as its authors have them."""
    changes = METHODS[method]
    if changes is None:
        return BaselineConfig(dimensions=resolve().mgcn.dimensions, walks=walks, walk_length=80, window=10)
    preset = "paper" if method == "paper preset" else "default"
    return resolve(preset, assignments=[*assignments, *changes])


def describe(settings: Config | BaselineConfig) -> str:
    """What a result depends on: another default is another key, and is measured anew."""
    if isinstance(settings, BaselineConfig):
        return settings.model_dump_json(include={"dimensions", "walks", "walk_length", "window", "negatives"})
    return settings.model_dump_json(include={"mgcn", "hypergraph"})


def run_method(method: str, split: Holdout, seed: int, settings: Config | BaselineConfig) -> dict[str, Any]:
    """AUC over all test pairs and over those with an end of few edges, CPU seconds, and how an MGCN fit ended."""
    before = time.process_time()
    fit = None
    if isinstance(settings, BaselineConfig):
        X = walk_vectors(split.network, settings, seed)
    else:
        fit = embed(split.network, settings, seed)
        X = fit.vectors
    spent = time.process_time() - before
    few = split.network.degrees <= FEW
    near = [few[pairs].any(axis=1) for pairs in (split.edges, split.non_edges)]
    best: dict[str, Any] = {"auc": 0.0, "few": float("nan"), "cpu": spent}
    if fit is not None:
        loss = float(np.mean(fit.losses[: fit.steps][-10:]))
        best |= {"loss": loss, "trivial": fit.trivial, "verdict": fit.verdict, "steps": fit.steps}
    for x in [X] if method not in ("DeepWalk", "PALE-style") else [X, unit_rows(X)]:
        scores = [score_pairs(x, pairs) for pairs in (split.edges, split.non_edges)]
        auc = area_under_curve(*scores)
        if auc > best["auc"]:
            best["auc"] = auc
            if min(part.sum() for part in near) >= 50:
                best["few"] = area_under_curve(scores[0][near[0]], scores[1][near[1]])
    return best


def show(found: list[dict[str, Any]]) -> str:
    auc, few = (np.array([one[name] for one in found]) for name in ("auc", "few"))
    seldom = "" if np.isnan(few).any() else f"; few edges {few.mean():.4f}"
    cpu = np.mean([one["cpu"] for one in found])
    each = " ".join(f"{value:.4f}" for value in auc)
    said = f"{auc.mean():.4f} ± {auc.std():.4f} ({len(found)} seeds: {each}; {cpu:.0f} CPU s a fit{seldom})"
    if "loss" in found[0]:
        ends = ", ".join(f"{one['loss']:.3f} {one['verdict']} at step {one['steps']}" for one in found)
        said += f"; loss of {found[0]['trivial']:.3f} trivial: {ends}"
    return said


def page(rows: list[dict[str, Any]]) -> str:
    """Both levels and each alone on every network: AUC, spread and number of seeds; CPU seconds of both levels."""
    lines = ["| levels | " + " | ".join(NETWORKS) + " |", "|---|" + "---|" * len(NETWORKS)]
    for method in LEVELS:
        cells = []
        for name in NETWORKS:
            auc = [row["auc"] for row in rows if (row["network"], row["method"]) == (name, method)]
            cells.append(f"{np.mean(auc):.4f} ± {np.std(auc):.4f} ({len(auc)})" if auc else "-")
        lines.append(f"| {'both' if method == 'MGCN' else method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=",".join(DEFAULT_METHODS))
    parser.add_argument("--walks", type=int, default=10, help="DeepWalk's walks from each account")
    parser.add_argument("--left-out", type=float, default=0.1)
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    parser.add_argument("--set", action="append", default=[], help="name=value, for every method but DeepWalk")
    parser.add_argument("--keep", action="store_true", help="add the figures of MGCN and its levels to the results")
    parser.add_argument("--page", action="store_true", help="write the table of docs/mgcn.md from what is kept")
    asked = parser.parse_args()
    if asked.page:
        write_between(PAGE, "benchmarks/mgcn_links.py", page(read_rows(KEPT)))
        return
    warnings.simplefilter("ignore")
    asked.out.mkdir(parents=True, exist_ok=True)
    notes = asked.out / "mgcn-links.jsonl"
    lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    known = {line["key"]: line for line in lines}
    print(f"held-out-edge AUC, {asked.left_out:.0%} of the edges left out")
    for name in asked.networks.split(","):
        folder = ROOT / "singles" / name
        if not folder.is_dir():
            print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
            continue
        network, _ = read_network(folder / "edges.tsv")
        for method in asked.methods.split(","):
            found = []
            settings = choose_settings(method, asked.set, asked.walks)
            for seed in range(asked.seeds):
                key = f"{name} {method} {asked.left_out} {seed} {describe(settings)}"
                if key not in known:
                    split = hold_out(network, asked.left_out, np.random.default_rng(seed))
                    assert split is not None
                    known[key] = {"key": key, **run_method(method, split, seed, settings)}
                    with notes.open("a") as file:
                        file.write(json.dumps(known[key]) + "\n")
                found.append(known[key])
                cell = {"network": name, "method": method, "seed": seed}
                kept = read_rows(KEPT)
                if (
                    asked.keep
                    and not asked.set
                    and method in LEVELS
                    and not any(cell.items() <= row.items() for row in kept)
                ):
                    figures = {one: round(known[key][one], 4) for one in ("auc", "cpu")}
                    keep_rows(KEPT, [*kept, {**cell, **figures, "date": f"{datetime.now(UTC):%Y-%m-%d}"}])
            d = settings.dimensions if isinstance(settings, BaselineConfig) else settings.mgcn.dimensions
            print(f"{name:22} {method:22} d = {d}: {show(found)}", flush=True)


if __name__ == "__main__":
    main()
