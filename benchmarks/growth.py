"""CPU and memory per edge of a whole `kedge match` over growing planted pairs; near linear is what is hoped for.

    python benchmarks/growth.py [--nodes 10000 100000 1000000] [--method kedge mgcn] [--plot docs/images/growth.png]

For mgcn one may train fewer steps (`--set mgcn.steps=60`): its cost is nearly all steps, so say which you took.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import measure, measure_tree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--method", nargs="+", default=["kedge", "mgcn"])
    parser.add_argument("--set", dest="settings", action="append", default=[], help="a setting for `kedge match`")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--figures", type=Path, help="a JSON file that rows are added to, and the plot drawn from")
    asked = parser.parse_args()
    rows = json.loads(asked.figures.read_text()) if asked.figures and asked.figures.exists() else []
    print("method | accounts a side | edges in all | CPU s | µs an edge | peak MB | bytes an edge | hits1 | mrr")
    for nodes in asked.nodes:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            measure(sys.executable, "-m", "kedge", "synth", "-o", str(data), "--nodes", str(nodes), "-q")
            for method in asked.method:
                rows.append(run_one(Path(folder), data, nodes, method, asked.settings))
                print(" | ".join(str(value) for value in rows[-1].values()), flush=True)
                if asked.figures:
                    asked.figures.write_text(json.dumps(rows, indent=1))
    if asked.plot:
        draw(rows, asked.plot)


def run_one(folder: Path, data: Path, nodes: int, method: str, settings: list[str]) -> dict[str, Any]:
    files = [str(data / f"{name}.tsv") for name in ("left", "right", "train", "test")]
    more = [word for setting in settings for word in ("--set", setting)]
    done = measure_tree(
        sys.executable, "-m", "kedge", "match", files[0], files[1], "--anchors", files[2], "--test", files[3],
        "-o", str(folder / f"run-{method}"), "--method", method, "--json", "-q", *more,
    )  # fmt: skip
    metrics, edges = json.loads(done.printed)["metrics"], 10 * nodes
    return {
        "method": method,
        "nodes": nodes,
        "edges": edges,
        "cpu": round(done.cpu_seconds, 1),
        "us_per_edge": round(done.cpu_seconds / edges * 1e6, 1),
        "peak_mb": round(done.peak_mb),
        "bytes_per_edge": round(done.peak_mb * 1e6 / edges),
        "hits1": round(metrics["hits1"], 3),
        "mrr": round(metrics["mrr"], 3),
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, name, words in ((axes[0], "cpu", "CPU seconds"), (axes[1], "peak_mb", "peak memory, MB")):
        for method, marker in zip(dict.fromkeys(row["method"] for row in rows), "osv^", strict=False):
            mine = sorted((row["edges"], row[name]) for row in rows if row["method"] == method)
            axis.loglog(*zip(*mine, strict=True), marker=marker, label=method)
            if name == "cpu" and len(mine) > 1:
                axis.loglog([e for e, _ in mine], [mine[-1][1] * e / mine[-1][0] for e, _ in mine], ":", color="0.6")
        axis.set_xlabel("edges of both networks")
        axis.set_ylabel(words)
        low, high = axis.get_ylim()
        ticks = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
        axis.set_yticks([tick for tick in ticks if low <= tick <= high])
        axis.yaxis.set_major_formatter(lambda tick, _: f"{tick:,.0f}")
        axis.yaxis.set_minor_formatter(lambda *_: "")
        axis.grid(alpha=0.3)
    axes[0].legend(title="dotted: linear")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
