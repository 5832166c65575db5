"""Jobs for the engine tests: importable by workers that were started afresh."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def square(x: int) -> np.ndarray:
    return np.full(3, x * x)


def die_once(argument: tuple[str, int]) -> int:
    """Kills its own process the first time anyone asks for number 2."""
    folder, number = argument
    marker = Path(folder) / "died"
    if number == 2 and not marker.exists():
        marker.write_text("yes")
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 10


def always_die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang_once(argument: tuple[str, int]) -> int:
    folder, number = argument
    marker = Path(folder) / "hung"
    if number == 1 and not marker.exists():
        marker.write_text("yes")
        time.sleep(600)
    return number


def doze_once(argument: tuple[str, int]) -> int:
    """The first job of number 1 hangs until a file `wake` is there."""
    folder, number = argument
    marker = Path(folder) / "dozed"
    if number == 1 and not marker.exists():
        marker.write_text("yes")
        deadline = time.monotonic() + 300
        while not (Path(folder) / "wake").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    return number


def stop_once(argument: tuple[str, int]) -> int:
    """The first job of number 1 stops its own process, as SIGSTOP does."""
    folder, number = argument
    marker = Path(folder) / "stopped"
    if number == 1 and not marker.exists():
        marker.write_text("yes")
        os.kill(os.getpid(), signal.SIGSTOP)
    return number


def slow_pid(argument: tuple[str, int]) -> int:
    """Writes its pid, works a little, so that somebody can kill it in between."""
    folder, number = argument
    (Path(folder) / f"pid-{number}-{os.getpid()}").write_text("")
    time.sleep(0.4)
    return number + 100


def refuse(number: int) -> int:
    raise ValueError(f"job {number} is wrong")


def double(x: int) -> tuple[int, int]:
    """Twice the number, and who says so."""
    return 2 * x, os.getpid()


def fail(_: int) -> None:
    raise ValueError("no such\nthing")
