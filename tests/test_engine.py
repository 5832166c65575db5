"""Engines: the same results everywhere; dead and hung workers cost only their jobs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import engine_jobs
import numpy as np
import pytest

from kedge.config import EngineConfig
from kedge.engine import make_engine
from kedge.engine.dask import Dask
from kedge.engine.memory import fitting_workers
from kedge.engine.processes import Processes
from kedge.engine.serial import Serial
from kedge.errors import KedgeError


def collect(engine, job, arguments) -> list:
    results = dict(engine.run(job, arguments))
    assert sorted(results) == list(range(len(arguments)))
    return [results[place] for place in range(len(arguments))]


def test_processes_give_what_serial_gives():
    serial = collect(Serial(), engine_jobs.square, range(5))
    parallel = collect(Processes(2), engine_jobs.square, range(5))
    assert all((a == b).all() for a, b in zip(serial, parallel, strict=True))
    assert collect(Processes(2), engine_jobs.square, []) == []


def test_a_killed_worker_costs_only_its_jobs(tmp_path):
    jobs = [(str(tmp_path), number) for number in range(5)]
    assert collect(Processes(2), engine_jobs.die_once, jobs) == [0, 10, 20, 30, 40]


def test_a_job_that_always_kills_its_worker_is_given_up_with_a_clear_line():
    with pytest.raises(KedgeError, match=r"died 2 times.*--workers 1"):
        collect(Processes(1, retries=1), engine_jobs.always_die, [1])


def test_a_hung_worker_is_timed_out(tmp_path):
    jobs = [(str(tmp_path), number) for number in range(3)]
    assert collect(Processes(2, timeout=4), engine_jobs.hang_once, jobs) == [0, 1, 2]


def test_a_jobs_own_error_is_not_swallowed():
    with pytest.raises(ValueError, match="job 0 is wrong"):
        collect(Processes(1), engine_jobs.refuse, [0])


def test_workers_never_exceed_memory_or_the_request(monkeypatch):
    monkeypatch.setattr("kedge.engine.memory.resident_mb", lambda: 100.0)

    def fitting(workers, limit, each):
        return fitting_workers(EngineConfig(workers=workers, max_memory_mb=limit), each)

    assert fitting(8, 2100, 600) == 2
    assert fitting(1, 100_000, 10) == 1
    assert fitting(4, 0, 10_000_000) == 1, "without a limit one is always tried"
    with pytest.raises(KedgeError, match=r"needs about 5,450 MB .*--max-memory 5,400 MB; .*n_max"):
        fitting(4, 5400, 5000)


def test_a_part_that_does_not_fit_is_refused_in_this_process_too():
    with pytest.raises(KedgeError, match="more than --max-memory 300 MB"):
        make_engine(EngineConfig(name="serial", max_memory_mb=300), 5000)


def test_the_engine_is_chosen_by_name():
    assert isinstance(make_engine(EngineConfig(name="serial"), 10), Serial)
    assert isinstance(make_engine(EngineConfig(name="processes", workers=1), 10), Processes)
    with pytest.raises(KedgeError, match="address"):
        make_engine(EngineConfig(name="dask"), 10)
    assert isinstance(make_engine(EngineConfig(name="dask", address="tcp://127.0.0.1:1"), 10), Dask)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A real scheduler and two real workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("dask")
    address = f"tcp://127.0.0.1:{free_port()}"
    paths = [str(Path(__file__).parent), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

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

    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    yield address, running
    for process in running[::-1]:
        process.terminate()
    for process in running:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # a worker says good-bye to its scheduler, which a busy machine may delay
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_what_serial_gives(cluster):
    address, _ = cluster
    results = collect(Dask(address), engine_jobs.square, range(6))
    assert np.array_equal(results, collect(Serial(), engine_jobs.square, range(6)))


@pytest.mark.filterwarnings("ignore")
def test_a_job_that_hangs_on_a_dask_worker_is_given_to_another(cluster, tmp_path):
    address, _ = cluster
    began = time.monotonic()
    jobs = [(str(tmp_path), number) for number in range(4)]
    assert collect(Dask(address, timeout=2), engine_jobs.doze_once, jobs) == [0, 1, 2, 3]
    assert (tmp_path / "dozed").exists()
    assert time.monotonic() - began < 6.5, "nobody waited for the one that hung"
    time.sleep(max(0.0, 8 - (time.monotonic() - began)))


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_killed_by_its_pid_costs_only_its_jobs(cluster, tmp_path):
    address, running = cluster
    jobs = [(str(tmp_path), number) for number in range(8)]
    work = Dask(address).run(engine_jobs.slow_pid, jobs)
    results = dict([next(work)])
    victim = running[-1].pid
    os.kill(victim, signal.SIGKILL)
    results.update(work)
    assert results == {number: number + 100 for number in range(8)}
    started = {name.name.rsplit("-", 1)[1] for name in tmp_path.iterdir()}
    assert str(victim) in started, "the killed worker had jobs"


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_scheduler_is_one_line():
    began = time.monotonic()
    with pytest.raises(KedgeError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:") as caught:
        collect(Dask(f"tcp://127.0.0.1:{free_port()}", connect_seconds=2), engine_jobs.square, [1])
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 60
