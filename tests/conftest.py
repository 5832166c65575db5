"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from ports import free_port

from kedge.report.chromium import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Results do not depend on the number of threads, and torch's threads spin against each other on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# The profile of tests/fuzz, taken with `@settings.get_profile("fuzz")`: the same few examples in every run of tests,
# and with KEDGE_FUZZ, as `make fuzz` sets it, so many new ones.
_EXAMPLES = os.environ.get("KEDGE_FUZZ")
settings.register_profile(
    "fuzz",
    max_examples=int(_EXAMPLES or 25),
    derandomize=not _EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
if _EXAMPLES:
    settings.load_profile("fuzz")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A real scheduler and two real workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("dask")
    address = f"tcp://127.0.0.1:{free_port()}"
    paths = [str(Path(__file__).parent / "support"), *sys.path]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        # How long the scheduler asks a dead worker for its results before it has them computed again; else 30 s.
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    }

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        return subprocess.Popen(
            command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    host, port = address.removeprefix("tcp://").split(":")
    running = [start("dask_scheduler", "--host", host, "--port", port, "--no-dashboard")]
    running += [
        start("dask_worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny",
              "--host", host, "--local-directory", str(folder / f"w{i}"))
        for i in range(2)
    ]  # fmt: skip
    from distributed import Client

    with Client(address, timeout=300, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=300)
    yield address, running
    for process in running:  # not asked to end: a worker would say good-bye to its scheduler, and it to its workers
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A running Chromium. Not for the session: asyncio cannot be used next to it."""
    from playwright.sync_api import sync_playwright

    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    flags = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[f"--{flag}" for flag in (*flags.split(), "disable-sync")], timeout=300_000
        )
        yield browser
        browser.close()
