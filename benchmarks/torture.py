"""`kedge match` killed at random moments, and with a disk that fails at every write: the run ends up the same.

Kills: SIGKILL at random moments, the same command again until the run is whole. Errors: the n-th write, sync, rename or
opening for writing fails, once with ENOSPC (and all after it: the disk stays full), once with EIO (that one alone); the
same command then runs without failures. Every directory is compared byte for byte with that of an undisturbed run, but
for times and memory in the manifest, and the report that shows them. Goal: 0 differences, and each error is one line.

Commands run in forked children of this process, which has imported kedge but computed nothing.
"""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import ROOT
from reliability import keep

import kedge.pipeline.match
from kedge.cli import app

PAIR = ROOT / "tests" / "assets" / "run-format-4" / "pair"
SETTINGS = ("mgcn.dimensions=16", "candidates=5", "pairing.use=yes")
VARYING = ("cpu_seconds", "peak_mb", "created", "checksum")


def words(out: Path) -> list[str]:
    """The command."""
    left, right, train, test = (str(PAIR / f"{name}.tsv") for name in ("left", "right", "train", "test"))
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    return ["match", left, right, "--anchors", train, "--test", test, "-o", str(out), "-q", *settings]


def start(out: Path, log: Path, prepare: Callable[[], None] = lambda: None) -> int:
    """Run the command in a child; its process id."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        prepare()
        app(words(out))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def finish(child: int) -> int:
    """The exit code of a child."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def contents(run: Path) -> dict[str, Any]:
    """All files of a run that are the same every time."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in run.rglob("*") if path.is_file()):
        name = str(path.relative_to(run))
        if name == "manifest.json":
            found[name] = _steady(json.loads(path.read_text("utf-8")))
        elif name != "report.html" and not name.startswith(".lock"):
            found[name] = path.read_bytes()
    return found


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _steady(part) for name, part in sorted(value.items()) if name not in VARYING}
    return value


class Failing:
    """Makes the n-th change of the disk fail; n = 0 only counts them."""

    def __init__(self, at: int, code: int, lasting: bool) -> None:
        self.at, self.code, self.lasting, self.count = at, code, lasting, 0

    def check(self) -> None:
        """Count a change, or raise."""
        self.count += 1
        if self.at and (self.count == self.at or (self.lasting and self.count > self.at)):
            raise OSError(self.code, os.strerror(self.code))

    def install(self) -> None:
        """Wrap what changes the disk. Writing is wrapped below its buffer, where a full disk shows."""
        failing = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                failing.check()
                return super().write(data)

        whole_fdopen, whole_open = os.fdopen, os.open

        def fdopen(handle: int, mode: str = "r", *more: Any, **named: Any) -> Any:
            return io.BufferedWriter(Raw(handle, "wb")) if mode == "wb" else whole_fdopen(handle, mode, *more, **named)

        def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR):
                failing.check()
            return whole_open(path, flags, *more, **named)

        def wrapped(whole: Callable[..., Any]) -> Callable[..., Any]:
            def call(*given: Any, **named: Any) -> Any:
                failing.check()
                return whole(*given, **named)

            return call

        os.fdopen, os.open = fdopen, opened  # type: ignore[assignment]
        for name in ("fsync", "replace", "rename", "mkdir"):
            setattr(os, name, wrapped(getattr(os, name)))


def kill_often(folder: Path, expected: dict[str, Any], kills: int, seconds: float, rng: np.random.Generator) -> int:
    """Kill that often, each run until it is whole; how many runs differ."""
    done = runs = differences = 0
    while done < kills:
        out, runs, here = folder / f"kill{runs}", runs + 1, 0
        while done < kills and here < 5:
            child = start(out, folder / "log")
            time.sleep(float(rng.uniform(0, seconds)))
            os.kill(child, signal.SIGKILL)
            if finish(child) == -signal.SIGKILL:
                done, here = done + 1, here + 1
            else:
                break
        differences += finish(start(out, folder / "log")) != 0 or contents(out) != expected
    print(
        f"kills at random moments: {done:,} in {runs:,} runs; runs that differ from an undisturbed one: {differences}"
    )
    keep(
        "kills",
        "`kedge match` killed (SIGKILL) at random moments, then started again until the run is whole",
        f"{done:,} kills in {runs:,} runs",
        f"{differences} runs differ from an undisturbed one, byte for byte but for times and memory",
        "python benchmarks/torture.py",
    )
    return differences


def fail_often(folder: Path, expected: dict[str, Any], steps: int, wanted: int) -> int:
    """Let the disk fail at `wanted` of its changes; how many were wrong."""
    wrong: list[str] = []
    fates: Counter[str] = Counter()
    places = sorted({round(place) for place in np.linspace(1, steps, min(wanted, steps))})
    for code, lasting in ((errno.ENOSPC, True), (errno.EIO, False)):
        for place in places:
            out, log = folder / f"{errno.errorcode[code]}{place}", folder / "log"
            ended = finish(start(out, log, Failing(place, code, lasting).install))
            lines = log.read_text("utf-8", "replace").splitlines()
            refused = ended == 2 and len(lines) == 1 and lines[0].startswith("kedge: ")
            fates["one line" if refused else "without effect" if ended == 0 else "wrong"] += 1
            if not refused and ended != 0:
                wrong.append(f"{errno.errorcode[code]} at change {place}: exit code {ended}: {lines[-1:]}")
            if finish(start(out, log)) != 0 or contents(out) != expected:
                wrong.append(f"{errno.errorcode[code]} at change {place}: another result after resuming")
    for line in wrong[:20]:
        print(line)
    counted = ", ".join(f"{fate} {count:,}" for fate, count in sorted(fates.items()))
    print(f"ENOSPC and EIO at {len(places):,} of {steps:,} changes of the disk: {counted}; wrong: {len(wrong)}")
    keep(
        "errors",
        "`kedge match` on a disk that is full from a write on, or fails at one write, then started again",
        f"{len(places):,} of {steps:,} writes, syncs, renames and openings, each with both errors",
        f"{len(wrong)} other than one line (or no effect) and the undisturbed bytes afterwards",
        "python benchmarks/torture.py",
    )
    return len(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--errors", type=int, default=10_000, help="at most so many places of each kind")
    asked = parser.parse_args()
    assert kedge.pipeline.match  # imported before any fork
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counter = Failing(0, 0, False)

        def count() -> None:
            counter.install()
            os_exit = os._exit

            def leave(code: int) -> None:
                (folder / "count").write_text(str(counter.count))
                os_exit(code)

            os._exit = leave  # type: ignore[assignment]

        assert finish(start(folder / "first", folder / "log")) == 0, (folder / "log").read_text()
        started = time.perf_counter()
        assert finish(start(folder / "whole", folder / "log", count)) == 0
        seconds = time.perf_counter() - started
        expected, steps = contents(folder / "whole"), int((folder / "count").read_text())
        assert contents(folder / "first") == expected
        wrong = kill_often(folder, expected, asked.kills, seconds, np.random.default_rng(0)) if asked.kills else 0
        wrong += fail_often(folder, expected, steps, asked.errors) if asked.errors else 0
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
