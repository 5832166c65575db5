"""Run a command in a fresh process; measure its CPU seconds and peak memory, and read its output."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Measured:
    """CPU seconds (all threads), peak resident megabytes, and stdout."""

    cpu_seconds: float
    peak_mb: float
    printed: str


def measure(*command: str, env: dict[str, str] | None = None) -> Measured:
    """Run a command to its end; only its own CPU time and memory count."""
    # A middleman process, since the operating system adds up children for each parent as a whole.
    watcher = (
        "import resource, subprocess, sys, json\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss, done.stdout]))"
    )
    whole = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    out = subprocess.run([sys.executable, "-c", watcher, *command], stdout=subprocess.PIPE, text=True, env=whole)
    code, cpu, peak, printed = json.loads(out.stdout)
    if code:
        raise SystemExit(f"{' '.join(command)[:200]} failed with {code}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(cpu, peak * unit / 1e6, printed)


def measure_python(code: str, *arguments: str, env: dict[str, str] | None = None) -> Measured:
    """The same for a piece of Python."""
    return measure(sys.executable, "-c", code, *arguments, env=env)


def answer_within(limit: int, *command: str) -> dict[str, Any] | str:
    """The JSON that a command prints, on one thread, or why there is none; `limit` CPU seconds."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | ONE_THREAD,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
    )
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"more than {limit} CPU s, stopped"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The kept rows of a results file; none where there is no such file."""
    return json.loads(path.read_text()) if path.exists() else []


def keep_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """One row a line, so that a change shows as one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def write_between(page: Path, maker: str, text: str) -> None:
    """Replace what a page has between the marks of its maker."""
    begin, end = f"<!-- begin: made by {maker} -->\n", "<!-- end -->\n"
    before, found, rest = page.read_text().partition(begin)
    if not found:
        raise SystemExit(f"{page} has no {begin.strip()}")
    page.write_text(before + begin + text + end + rest.partition(end)[2])


def own_peak_mb() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure_tree(*command: str, env: dict[str, str] | None = None) -> Measured:
    """The same for a command with children: memory of all its processes together, read five times per second."""
    whole = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    with tempfile.TemporaryFile("w+") as out:
        work = subprocess.Popen(command, stdout=out, env=whole)
        peak, code = 0.0, None
        while code is None:
            peak = max(peak, sum(_resident_mb(pid) for pid in _family(work.pid)))
            time.sleep(0.2)
            ended, status, used = os.wait4(work.pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if ended else None
        work.returncode = code
        out.seek(0)
        printed = out.read()
    if code:
        raise SystemExit(f"{' '.join(command)[:200]} failed with {code}")
    # Its own peak is exact; that of all processes together is sampled.
    return Measured(used.ru_utime + used.ru_stime, max(peak, used.ru_maxrss * 1024 / 1e6), printed)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _resident_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3
    except OSError:
        return 0.0
