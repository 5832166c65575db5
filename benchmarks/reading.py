"""Reading 12.75 million string-id edges into a deduplicated symmetric CSR, against duckdb's read and dictionary.

Goal: at most 1.5 × duckdb's CPU in the same run, at most 1.5 GB. duckdb reads the file, numbers the distinct ids and
joins the numbers back on both columns; kedge does that and builds the network.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from measuring import measure_python

KEDGE = """
import sys
from kedge.ingest import read_network
network, report = read_network(sys.argv[1])
print(network.n, network.edges)
"""

DUCKDB = r"""
import sys, duckdb
con = duckdb.connect(); con.execute("set enable_progress_bar = false")
con.execute(f"create table e as select * from read_csv('{sys.argv[1]}', delim='\t', header=false, all_varchar=true, "
            "columns={'a': 'VARCHAR', 'b': 'VARCHAR'})")
con.execute("create table ids as select id, row_number() over () - 1 as k from "
            "(select distinct id from (select a as id from e union all select b from e))")
pairs = con.execute("select x.k as u, y.k as v from e join ids x on e.a = x.id join ids y on e.b = y.id").fetchnumpy()
print(con.execute("select count(*) from ids").fetchone()[0], len(pairs["u"]))
"""


def write_edges(path: Path, n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    weight = np.cumsum(rng.pareto(1.5, n) + 1)
    names = pa.array([f"user_{i:07d}" for i in rng.permutation(n)])
    ends = [names.take(pa.array(np.searchsorted(weight, rng.random(m) * weight[-1]))) for _ in range(2)]
    options = arrow_csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    arrow_csv.write_csv(pa.table({"a": ends[0], "b": ends[1]}), path, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=12_749_257)
    parser.add_argument("--nodes", type=int, default=669_198)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.tsv"
        write_edges(path, asked.nodes, asked.edges)
        print(f"{asked.edges:,} edges, {path.stat().st_size / 1e6:.0f} MB")
        # Alternating, so that a noisy neighbour disturbs both alike.
        runs = [(measure_python(KEDGE, str(path)), measure_python(DUCKDB, str(path))) for _ in range(asked.repeats)]
    for place, name in enumerate(("kedge", "duckdb")):
        cpu = ", ".join(f"{run[place].cpu_seconds:.1f}" for run in runs)
        peak = max(run[place].peak_mb for run in runs)
        print(f"{name:7} CPU s: {cpu}; peak {peak:.0f} MB; accounts, edges: {runs[0][place].printed.strip()}")
    ratio = np.median([mine.cpu_seconds / theirs.cpu_seconds for mine, theirs in runs])
    print(f"kedge / duckdb, median: {ratio:.2f} (goal 1.5)")


if __name__ == "__main__":
    main()
