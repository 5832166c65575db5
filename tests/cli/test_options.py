"""What all commands share: exit codes and signals."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import ENVIRONMENT


@pytest.mark.parametrize(("sent", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_in_a_destructor_is_not_lost(sent: str, code: int) -> None:
    program = f"""
import signal, time, typer
from kedge.cli.options import guarded

class Closing:
    def __del__(self):
        signal.raise_signal(signal.{sent})
        for _ in range(100):
            pass

@guarded
def work():
    Closing()
    time.sleep(30)
    print("went on")

typer.run(work)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "went on" not in done.stdout
