"""What it costs to start kedge, and that torch stays out of the commands that do not need it. Goal: 0.5 s of CPU."""

from __future__ import annotations

import sys

from measuring import measure, measure_python

LIGHT = ("--help", "check --help", "synth --help", "export --help", "config", "doctor")
WATCH = """
import sys
from kedge.cli import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
sys.stdout.write("\\n" + ",".join(sorted({"torch", "numba", "networkit", "faiss"} & set(sys.modules))))
"""


def main() -> None:
    for words in LIGHT:
        runs = [measure(sys.executable, "-m", "kedge", *words.split()) for _ in range(3)]
        heavy = measure_python(WATCH, *words.split()).printed.rsplit("\n", 1)[-1]
        print(f"kedge {words:15} {min(run.cpu_seconds for run in runs):.2f} s CPU; heavy imports: {heavy or 'none'}")


if __name__ == "__main__":
    main()
