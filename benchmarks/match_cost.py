"""CPU and memory of a whole `kedge match` over growing planted pairs: what the estimate of `kedge check` stands on."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measuring import measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    asked = parser.parse_args()
    print("accounts a side | edges in all | CPU s | CPU s a million edges | peak MB | hits1 | mrr")
    for nodes in asked.nodes:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            measure(sys.executable, "-m", "kedge", "synth", "-o", str(data), "--nodes", str(nodes), "-q")
            files = [str(data / f"{name}.tsv") for name in ("left", "right", "train", "test")]
            run = measure(
                sys.executable, "-m", "kedge", "match", files[0], files[1], "--anchors", files[2], "--test", files[3],
                "-o", str(Path(folder) / "run"), "--json", "-q",
            )  # fmt: skip
        metrics = json.loads(run.said)["metrics"]
        edges = 10 * nodes
        cost = f"{run.cpu_seconds:.1f} | {run.cpu_seconds / edges * 1e6:.0f} | {run.peak_mb:.0f}"
        print(f"{nodes:,} | {edges:,} | {cost} | {metrics['hits1']:.3f} | {metrics['mrr']:.3f}", flush=True)


if __name__ == "__main__":
    main()
