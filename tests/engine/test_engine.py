"""Engines: the same results everywhere; dead and hung workers cost only their jobs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import engine_jobs
import numpy as np
import pytest
from ports import free_port

from kedge.config import ENGINES, EngineConfig
from kedge.engine import make_engine
from kedge.engine.dask import Dask
from kedge.engine.dask_address import parse_address
from kedge.engine.memory import fitting_workers
from kedge.engine.processes import Processes
from kedge.engine.serial import Serial
from kedge.errors import KedgeError


def collect(engine: Any, job: Any, arguments: Any) -> list:
    results = dict(engine.run(job, arguments))
    assert sorted(results) == list(range(len(arguments)))
    return [results[place] for place in range(len(arguments))]


def dask(address: str, **given: Any) -> Dask:
    return Dask(parse_address(EngineConfig(address=address)), **given)


def test_processes_give_what_serial_gives() -> None:
    serial = collect(Serial(), engine_jobs.square, range(5))
    parallel = collect(Processes(2), engine_jobs.square, range(5))
    assert all((a == b).all() for a, b in zip(serial, parallel, strict=True))
    assert collect(Processes(2), engine_jobs.square, []) == []


def test_a_killed_worker_costs_only_its_jobs(tmp_path: Path) -> None:
    jobs = [(str(tmp_path), number) for number in range(5)]
    assert collect(Processes(2), engine_jobs.die_once, jobs) == [0, 10, 20, 30, 40]


def test_a_job_that_always_kills_its_worker_is_given_up_with_a_clear_line() -> None:
    with pytest.raises(KedgeError, match=r"died 2 times.*--workers 1"):
        collect(Processes(1, retries=1), engine_jobs.always_die, [1])


def test_a_hung_worker_is_timed_out(tmp_path: Path) -> None:
    jobs = [(str(tmp_path), number) for number in range(3)]
    assert collect(Processes(2, timeout=4, retries=10), engine_jobs.hang_once, jobs) == [0, 1, 2]


def test_a_jobs_own_error_is_raised() -> None:
    with pytest.raises(ValueError, match="job 0 is wrong"):
        collect(Processes(1), engine_jobs.refuse, [0])


def test_workers_never_exceed_memory_or_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.engine.memory.resident_mb", lambda: 100.0)

    def fitting(workers: Any, limit: Any, each: Any) -> Any:
        return fitting_workers(EngineConfig(workers=workers, max_memory_mb=limit), each)

    assert fitting(8, 2100, 600) == 2
    assert fitting(1, 100_000, 10) == 1
    assert fitting(4, 0, 10_000_000) == 1, "without a limit one is always tried"
    with pytest.raises(KedgeError, match=r"needs about 5,450 MB .*--max-memory 5,400 MB; .*n_max"):
        fitting(4, 5400, 5000)


def test_a_part_that_does_not_fit_is_refused_in_this_process_too() -> None:
    with pytest.raises(KedgeError, match="more than --max-memory 300 MB"):
        make_engine(EngineConfig(name="serial", max_memory_mb=300), 5000)


def test_every_engine_has_its_row_in_the_docs_and_is_made_by_its_name() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8")
    table = text.partition("## Engines")[2].partition("\n## ")[0]
    assert [name for name in ENGINES if f"| `{name}` |" not in table] == []
    for name in ENGINES:
        engine = make_engine(EngineConfig(name=name, workers=1, address="tcp://127.0.0.1:1"), 10)
        assert type(engine).__name__ == name.capitalize()


def test_the_engine_is_chosen_by_name() -> None:
    assert isinstance(make_engine(EngineConfig(name="serial"), 10), Serial)
    assert isinstance(make_engine(EngineConfig(name="processes", workers=1), 10), Processes)
    with pytest.raises(KedgeError, match="address"):
        make_engine(EngineConfig(name="dask"), 10)
    assert isinstance(make_engine(EngineConfig(name="dask", address="tcp://127.0.0.1:1"), 10), Dask)


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_what_serial_gives(cluster: Any) -> None:
    address, _ = cluster
    results = collect(dask(address), engine_jobs.square, range(6))
    assert np.array_equal(results, collect(Serial(), engine_jobs.square, range(6)))


@pytest.mark.filterwarnings("ignore")
def test_the_parts_of_a_stopped_dask_worker_are_run_elsewhere(cluster: Any, tmp_path: Path) -> None:
    address, running = cluster
    notes: list[str] = []
    jobs = [(str(tmp_path), number) for number in range(4)]
    work = dask(address, silence=8, note=notes.append).run(engine_jobs.stop_once, jobs)
    try:
        assert dict(work) == {number: number for number in range(4)}
    finally:
        for process in running:
            process.send_signal(signal.SIGCONT)
    assert (tmp_path / "stopped").exists()
    assert any("no sign of life from the Dask worker at tcp://" in note for note in notes)


@pytest.mark.filterwarnings("ignore")
def test_a_job_that_hangs_on_a_dask_worker_is_given_to_another(cluster: Any, tmp_path: Path) -> None:
    address, _ = cluster
    jobs = [(str(tmp_path), number) for number in range(4)]
    assert collect(dask(address, timeout=6), engine_jobs.doze_once, jobs) == [0, 1, 2, 3]
    assert (tmp_path / "dozed").exists()
    (tmp_path / "wake").touch()  # only now does the job that hangs end: the results did not wait for it


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_killed_by_its_pid_costs_only_its_jobs(cluster: Any, tmp_path: Path) -> None:
    address, running = cluster
    jobs = [(str(tmp_path), number) for number in range(8)]
    work = dask(address).run(engine_jobs.slow_pid, jobs)
    results = dict([next(work)])
    victim = running[-1].pid
    os.kill(victim, signal.SIGKILL)
    results.update(work)
    assert results == {number: number + 100 for number in range(8)}
    started = {name.name.rsplit("-", 1)[1] for name in tmp_path.iterdir()}
    assert str(victim) in started, "the killed worker had jobs"


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_scheduler_is_one_line() -> None:
    began = time.monotonic()
    with pytest.raises(KedgeError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:") as caught:
        collect(dask(f"tcp://127.0.0.1:{free_port()}", connect_seconds=2), engine_jobs.square, [1])
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 300, "far from for ever, on a busy machine too"


@pytest.mark.parametrize(
    "address",
    ["garbage://x", "x", "tcp://", "tcp://host", "tcp://host:0", "tcp://host:99999", "tcp://host:abc", "tcp://[::1:5",
     "ws://127.0.0.1:1", "ucx://host:1", "inproc://1", "tcp://a b:1", "http://host:8786/x"],
)  # fmt: skip
def test_what_is_no_address_is_refused_before_any_work(address: str) -> None:
    with pytest.raises(KedgeError, match=r"is not the address of a Dask scheduler; write tcp://host:8786"):
        make_engine(EngineConfig(name="dask", address=address), 10)


@pytest.mark.parametrize("greeting", [None, b"SSH-2.0-OpenSSH_9.2\r\n", b""])
def test_a_socket_that_never_answers_or_is_no_scheduler_is_one_line(greeting: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(greeting)

        if greeting is not None:
            threading.Thread(target=greet, daemon=True).start()
        problem = "nothing within 0.3 s" if greeting is None else "something else listens there"
        with pytest.raises(KedgeError, match=rf"no Dask scheduler answers at {address} \({problem}"):
            collect(dask(address, connect_seconds=0.3 if greeting is None else 30), engine_jobs.square, [1])


def test_tls_files_are_checked(tmp_path: Path) -> None:
    ca, missing = tmp_path / "ca.pem", str(tmp_path / "missing.pem")
    ca.write_text("no certificate")

    def refused(address: str, **files: str) -> str:
        with pytest.raises(KedgeError) as caught:
            parse_address(EngineConfig(address=address, **files)).probe(5)
        return str(caught.value)

    three = {"tls_ca": str(ca), "tls_cert": str(ca), "tls_key": str(ca)}
    assert "needs --tls-ca --tls-cert --tls-key too" in refused("tls://host:1")
    assert "needs --tls-key too" in refused("host:1", **three | {"tls_key": ""})
    assert "there is no such file" in refused("tls://host:1", **three | {"tls_ca": missing})
    assert "write tls://host:8786" in refused("tcp://host:1", **three)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert "no Dask scheduler" in refused(f"tls://127.0.0.1:{server.getsockname()[1]}", **three)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here to make a certificate")
def test_a_scheduler_that_wants_tls_gets_it(tmp_path: Path) -> None:
    pem, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", key, "-out", pem], check=True, capture_output=True)
    program = f"""
from distributed import LocalCluster
from distributed.security import Security
keys = dict(tls_ca_file={pem!r}, require_encryption=True)
for role in ("scheduler", "worker", "client"):
    keys |= {{f"tls_{{role}}_cert": {pem!r}, f"tls_{{role}}_key": {key!r}}}
with LocalCluster(1, processes=False, threads_per_worker=1, protocol="tls", host="127.0.0.1", dashboard_address=None,
                  security=Security(**keys)) as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(engine_jobs.__file__).parent), *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-c", program], text=True, env=environment, cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as cluster:  # fmt: skip
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        assert address.startswith("tls://")
        config = EngineConfig(name="dask", address=address, tls_ca=pem, tls_cert=pem, tls_key=key)
        assert np.array_equal(collect(make_engine(config, 10), engine_jobs.square, [2, 3]), [[4] * 3, [9] * 3])
        with pytest.raises(KedgeError, match="no Dask scheduler answers at tcp://"):
            collect(dask(address.replace("tls", "tcp"), connect_seconds=1), engine_jobs.square, [2])
        cluster.communicate("\n")
