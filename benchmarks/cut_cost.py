"""CPU and memory of Algorithm 1 with guests or shared accounts, and of the sketch: a cost for each edge.

python benchmarks/cut_cost.py [--nodes 100000 300000] [--degree 20] [--shared-by border]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import measuring

from kedge.store import NETWORK
from kedge.synthetic import planted

CHILD = """
import json, sys, time
from pathlib import Path
import networkit, numpy as np
from kedge.linalg import sketch_network
from kedge.config import PartitionConfig
from kedge.partition import partition, part_adjacency
from kedge.store import NETWORK
def high_water():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
network, before = NETWORK.load(Path(sys.argv[1])), high_water()
began, config = time.process_time(), PartitionConfig(shared_by=sys.argv[2])
parts, notes = partition(network, config, 0)
cut = time.process_time() - began
pieces = [part_adjacency(network, parts, p, config) for p in range(parts.count)]
accounts, edges = sum(len(a) for a, _ in pieces), sum(A.nnz // 2 for _, A in pieces)
memory, began = high_water() - before, time.process_time()
sketch_network(network, 64, config.sketch_steps, 0)
sketch = time.process_time() - began
facts = {"parts": parts.count, "sizes": np.bincount(parts.part).tolist(), "trained": edges / network.edges}
facts |= {"accounts": accounts / network.n, "sketch": sketch, "sketch_mb": high_water() - before}
print(json.dumps(facts | {"cut": cut, "edges": network.edges, "mb": memory, "notes": notes}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 300_000])
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--shared-by", choices=["border", "bridges", "paper"], default="border")
    asked = parser.parse_args()
    print(
        "accounts | edges | parts | smallest | largest | accounts trained / accounts | edges trained / edges | CPU s | "
        "µs an edge | bytes an edge | sketch (d 64) CPU s | µs an edge | MB with the sketch"
    )
    for n in asked.nodes:
        with tempfile.TemporaryDirectory() as folder:
            path, edges = Path(folder) / "network", n * asked.degree // 2
            with path.open("wb") as file:
                NETWORK.dump(planted(n, n, n // 2, edges, edges, 0.6, 0).left, file)
            found = json.loads(measuring.measure_python(CHILD, str(path), asked.shared_by).printed)
        sizes, m = found["sizes"], found["edges"]
        print(
            f"{n:,} | {m:,} | {found['parts']} | {min(sizes):,} | {max(sizes):,} | {found['accounts']:.2f} | "
            f"{found['trained']:.2f} | "
            f"{found['cut']:.1f} | {found['cut'] / m * 1e6:.2f} | {found['mb'] * 1e6 / m:.0f} | "
            f"{found['sketch']:.1f} | {found['sketch'] / m * 1e6:.1f} | {found['sketch_mb']:,.0f}",
            *found["notes"],
            flush=True,
        )


if __name__ == "__main__":
    main()
