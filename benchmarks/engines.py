"""Two local workers against one, and a real Dask cluster with a worker killed by its pid: the same vectors everywhere.

    python benchmarks/engines.py [--nodes 20000] [--namespaces]

Wall time means something only on idle cores: the load before each run is printed beside it. `--namespaces` puts each
Dask worker into a network namespace of its own (it needs root and iproute2).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
from measuring import ROOT

from kedge.config import Config, resolve
from kedge.context.run_context import CacheEntry, MemoryCache, RunContext
from kedge.embedding.network import embed_network
from kedge.embedding.plan import Source
from kedge.synthetic import planted
from kedge.types import Network

SETTINGS = "mgcn.dimensions=64 partition.n_max=1200 partition.n_min=200 partition.shared=100".split()


class Watched(MemoryCache):
    """Calls somebody when the first part is there."""

    def __init__(self, then: object = None) -> None:
        super().__init__()
        self.then = then

    def put(self, key: str, piece: CacheEntry) -> None:
        """Keep it, and tell."""
        super().put(key, piece)
        if callable(self.then):
            self.then()
            self.then = None


def run(name: str, network: Network, config: Config, then: object = None) -> np.ndarray:
    load, began = os.getloadavg()[0], time.perf_counter()
    made = embed_network(Source(network, np.empty(0, np.int64), 0), config, RunContext(Watched(then)))
    wall = time.perf_counter() - began
    print(f"{name:34} {wall:8.1f} s wall (load before: {load:.1f}), {made.parts.count} parts", flush=True)
    return made.vectors


def config(*more: str) -> Config:
    return resolve(assignments=[*SETTINGS, *more])


@contextlib.contextmanager
def dask_cluster(host: str, prefixes: list[list[str]]) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port = probe.getsockname()[1]
    address = f"tcp://{host}:{port}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}

    def start(*words: str) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(words, env=environment, stdout=quiet, stderr=quiet)

    with tempfile.TemporaryDirectory() as folder:
        python = [sys.executable, "-m"]
        listening = ("--host", host, "--port", str(port), "--no-dashboard")
        scheduler = start(*python, "distributed.cli.dask_scheduler", *listening)
        workers = [
            start(*prefix, *python, "distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1",
                  "--no-nanny", "--no-dashboard", "--local-directory", f"{folder}/w{i}")
            for i, prefix in enumerate(prefixes)
        ]  # fmt: skip
        from distributed import Client

        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(len(prefixes), timeout=90)
        try:
            yield address, workers
        finally:
            for process in [*workers, scheduler]:
                process.terminate()
            for process in [*workers, scheduler]:
                process.wait(20)


@contextlib.contextmanager
def namespaces(count: int) -> Iterator[tuple[str, list[list[str]]]]:
    """A bridge here, and as many namespaces as workers, each with one end of a wire to it."""

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    ip("link", "add", "kedge0", "type", "bridge")
    try:
        ip("addr", "add", "10.213.0.1/24", "dev", "kedge0")
        ip("link", "set", "kedge0", "up")
        for i in range(count):
            ip("netns", "add", f"kedge{i}")
            ip("link", "add", f"kv{i}", "type", "veth", "peer", "name", f"kw{i}")
            ip("link", "set", f"kw{i}", "netns", f"kedge{i}")
            ip("link", "set", f"kv{i}", "master", "kedge0", "up")
            ip("-n", f"kedge{i}", "addr", "add", f"10.213.0.{i + 2}/24", "dev", f"kw{i}")
            ip("-n", f"kedge{i}", "link", "set", f"kw{i}", "up")
            ip("-n", f"kedge{i}", "link", "set", "lo", "up")
        yield "10.213.0.1", [["ip", "netns", "exec", f"kedge{i}"] for i in range(count)]
    finally:
        for i in range(count):
            subprocess.run(["ip", "netns", "del", f"kedge{i}"], check=False)
        subprocess.run(["ip", "link", "del", "kedge0"], check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--namespaces", action="store_true")
    parser.add_argument("--only", choices=["local", "dask"])
    asked = parser.parse_args()
    n = asked.nodes
    network = planted(n, n, n // 2, 10 * n, 10 * n, 0.6, 0).left
    reference = run("one process, here", network, config("engine.name=serial"))
    if asked.only != "dask":
        for count in (1, 2):
            found = run(f"{count} local worker(s)", network, config(f"engine.workers={count}"))
            print("  the same vectors" if np.array_equal(found, reference) else "  OTHER VECTORS")
    if asked.only == "local":
        return
    here: tuple[str, list[list[str]]] = ("127.0.0.1", [[], []])
    place = namespaces(2) if asked.namespaces else contextlib.nullcontext(here)
    with place as (host, prefixes), dask_cluster(host, prefixes) as (address, workers):
        where = ["engine.name=dask", f"engine.address={address}"]
        for name, then in (("Dask, two workers", None), ("Dask, one of them killed", lambda: end(workers[-1]))):
            found = run(name, network, config(*where), then)
            print("  the same vectors" if np.array_equal(found, reference) else "  OTHER VECTORS")


def end(worker: subprocess.Popen[bytes]) -> None:
    """By its pid; where `ip netns exec` stands before it, it has become the worker itself."""
    os.kill(worker.pid, signal.SIGKILL)
    print(f"  worker {worker.pid} was killed", flush=True)


if __name__ == "__main__":
    main()
