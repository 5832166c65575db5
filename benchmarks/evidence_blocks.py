"""Evidence in blocks: in memory, several, out of core, killed and resumed, on a Dask cluster; of one planted pair.

    python benchmarks/evidence_blocks.py [--nodes 100000] [--blocks 4] [--max-memory 500] [--dask] [--kill] [--out FILE]

Each row is a fresh process: CPU seconds of evidence alone (on a cluster: of the workers too), its peak memory with and
without what the process held before, and a checksum of the result, which must be the same in all rows. `--kill` ends a
command with SIGKILL after each of some rounds and lets the next one go on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import ONE_THREAD, ROOT


def child(asked: argparse.Namespace) -> None:
    """One propagation, as asked; prints its figures as JSON."""
    import numpy as np

    from kedge.config import EngineConfig, EvidenceConfig
    from kedge.context import MemoryCache, Noting, Silent, peak_mb, resident_mb
    from kedge.evidence import Where
    from kedge.evidence.propagate import propagate
    from kedge.store.cache import DiskCache
    from kedge.synthetic import planted
    from kedge.types import Network, Problem

    config = EvidenceConfig(form="sparse")
    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    propagate(Problem(star, star, np.array([(0, 0), (1, 1)])), config)
    n = asked.nodes
    pair = planted(n, n, int(0.7 * n), 5 * n, 5 * n, 0.6, seed=5)
    order = np.random.default_rng(5).permutation(len(pair.anchors))
    seen = np.asarray(pair.anchors)[np.sort(order[: len(order) // 5])]
    notes = Noting(Silent())
    engine = EngineConfig(
        name="dask" if asked.address else "processes", address=asked.address, max_memory_mb=asked.max_memory
    )
    cache = DiskCache(Path(asked.cache), notes.note) if asked.cache else MemoryCache()
    where = Where(engine, cache, notes, blocks=asked.blocks)
    problem = Problem(pair.left, pair.right, seen)
    del pair
    held, began = resident_mb(), time.process_time()
    Path(asked.ready).touch() if asked.ready else None
    evidence = propagate(problem, config, where=where)
    seconds = time.process_time() - began
    sha = hashlib.sha256()
    for matrix in (evidence.log_odds, evidence.beliefs, evidence.support):
        for part in (matrix.indptr, matrix.indices, matrix.data):
            sha.update(np.ascontiguousarray(part).data)
    figures = {"cpu": round(seconds, 1), "peak_mb": round(peak_mb()), "held_mb": round(held)}
    print(json.dumps(figures | {"sha256": sha.hexdigest()[:16], "notes": notes.notes}))


def run(nodes: int, *words: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", "--nodes", str(nodes), *words]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT / "src")}
    found: dict[str, Any] = json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE).stdout)
    return found


def killed(nodes: int, folder: Path, rounds: tuple[int, ...], words: tuple[str, ...]) -> dict[str, Any]:
    """A command that is killed whenever the next of these rounds is saved, and at last let to its end."""
    command = [sys.executable, __file__, "--child", "--nodes", str(nodes), "--cache", str(folder), *words]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT / "src")}
    for number in rounds:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        while not list(folder.glob(f"*-{number}.safetensors")) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    found = run(nodes, "--cache", str(folder), *words)
    assert any("goes on after round" in note for note in found["notes"]), found["notes"]
    assert not list(folder.iterdir()), "nothing is left behind"
    return found


def on_cluster(nodes: int, folder: Path, workers: int) -> dict[str, Any]:
    """A scheduler and workers of one thread, each a process; their CPU counts, and what they sent and received."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{one.getsockname()[1]}"
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT / "src")}

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, cwd=folder, stdout=quiet, stderr=quiet)

    port = address.rsplit(":", 1)[1]
    running = [start("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
    try:
        running += [
            start("dask_worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")
            for _ in range(workers)
        ]
        from distributed import Client

        with Client(address, timeout=300, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=300)
        before = [cpu_of(process.pid) for process in running]
        found = run(nodes, "--address", address)
        found["workers_cpu"] = round(sum(cpu_of(p.pid) for p in running) - sum(before), 1)
    finally:
        for process in running:
            process.kill()
            process.wait()
    return found


def cpu_of(pid: int) -> float:
    """CPU seconds of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--blocks", type=int, default=0)
    parser.add_argument("--max-memory", type=float, default=0, help="MB; a row out of core")
    parser.add_argument("--dask", action="store_true", help="a row with two workers")
    parser.add_argument("--kill", action="store_true", help="a row that is killed and resumed")
    parser.add_argument("--out", type=Path, help="the rows as JSON")
    for hidden in ("--address", "--cache", "--ready"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked)
        return
    rows: dict[str, dict[str, Any]] = {}
    print("how | CPU s | CPU s of workers | peak MB | MB before evidence | sha256", flush=True)

    def show(name: str, found: dict[str, Any]) -> None:
        rows[name] = found
        cells = [found["cpu"], found.get("workers_cpu", ""), found["peak_mb"], found["held_mb"], found["sha256"]]
        print(" | ".join(str(cell) for cell in (name, *cells)), flush=True)
        if asked.out:
            asked.out.write_text(json.dumps({"nodes": asked.nodes, "rows": rows}, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        show("in memory", run(asked.nodes))
        if asked.blocks:
            show(f"{asked.blocks} blocks in memory", run(asked.nodes, "--blocks", str(asked.blocks)))
            words = ("--blocks", str(asked.blocks), "--cache", str(place / "blocks"))
            show(f"{asked.blocks} blocks as files", run(asked.nodes, *words))
        if asked.max_memory:
            words = ("--max-memory", str(asked.max_memory), "--cache", str(place / "limit"))
            show(f"within {asked.max_memory:,.0f} MB", run(asked.nodes, *words))
        if asked.kill:
            blocks = ("--blocks", str(asked.blocks or 3))
            show("killed after rounds 2, 3 and 9", killed(asked.nodes, place / "kill", (2, 3, 9), blocks))
        if asked.dask:
            show("two Dask workers", on_cluster(asked.nodes, place, 2))
    assert len({found["sha256"] for found in rows.values()}) == 1, "the results differ"
    print("the same bytes in all rows")


if __name__ == "__main__":
    main()
