"""CPU and memory of Algorithm 1 with its shared accounts, over growing planted networks: a cost for each edge.

python benchmarks/cut_cost.py [--nodes 100000 300000] [--degree 20] [--shared-by border]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import measuring

from kedge.store import NETWORK
from kedge.synth import planted

CHILD = """
import json, sys, time
from pathlib import Path
import networkit, numpy as np
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
edges = sum(part_adjacency(network, parts, p, config)[1].nnz // 2 for p in range(parts.count))
facts = {"parts": parts.count, "sizes": np.bincount(parts.part).tolist(), "trained": edges / network.edges}
print(json.dumps(facts | {"cut": cut, "edges": network.edges, "mb": high_water() - before, "notes": notes}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 300_000])
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--shared-by", choices=["border", "bridges", "paper"], default="border")
    asked = parser.parse_args()
    print("accounts | edges | parts | smallest | largest | edges trained / edges | CPU s | µs an edge | bytes an edge")
    for n in asked.nodes:
        with tempfile.TemporaryDirectory() as folder:
            path, edges = Path(folder) / "network", n * asked.degree // 2
            with path.open("wb") as file:
                NETWORK.dump(planted(n, n, n // 2, edges, edges, 0.6, 0).left, file)
            found = json.loads(measuring.measure_python(CHILD, str(path), asked.shared_by).said)
        sizes, m = found["sizes"], found["edges"]
        print(
            f"{n:,} | {m:,} | {found['parts']} | {min(sizes):,} | {max(sizes):,} | {found['trained']:.2f} | "
            f"{found['cut']:.1f} | {found['cut'] / m * 1e6:.2f} | {found['mb'] * 1e6 / m:.0f}",
            *found["notes"],
            flush=True,
        )


if __name__ == "__main__":
    main()
