"""CPU seconds and peak memory of a planted pair of the paper's full size, in a fresh process, and its figures.

python benchmarks/synth_full_size.py [--overlap 0.5] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

FULL_SIZE = (422_291, 669_198, 328_224, 3_710_789, 12_749_257)
CPU_LIMIT, MEMORY_LIMIT = 180, 4096


def child(overlap: float, seed: int) -> None:
    from kedge.synthetic import planted

    pair = planted(*FULL_SIZE, overlap, seed)
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024
    figures = {
        "cpu_seconds": used.ru_utime + used.ru_stime,  # imports included
        "peak_mb": used.ru_maxrss * unit / 2**20,
        "notes": list(pair.notes),
        "heavy": sorted({"torch", "numba", "networkit", "faiss"} & set(sys.modules)),
        "realised": dict(pair.realised),
    }
    print(json.dumps(figures))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--overlap", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.overlap, options.seed)
        return 0
    source = str(Path(__file__).resolve().parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", "--overlap", str(options.overlap), "--seed", str(options.seed)]
    began = time.perf_counter()
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    wall = time.perf_counter() - began
    figures = json.loads(answer)
    print(f"full size, overlap {options.overlap:g}, seed {options.seed}")
    print(f"  {'cpu seconds':26} {figures['cpu_seconds']:14,.1f}   (at most {CPU_LIMIT})")
    print(f"  {'wall seconds':26} {wall:14,.1f}")
    print(f"  {'peak memory, MB':26} {figures['peak_mb']:14,.0f}   (at most {MEMORY_LIMIT})")
    print(f"  {'heavy imports':26} {', '.join(figures['heavy']) or 'none':>14}")
    for name, value in figures["realised"].items():
        shown = f"{value:14,}" if isinstance(value, int) else f"{value:14,.4f}"
        print(f"  {name.replace('_', ' '):26} {shown}")
    for note in figures["notes"]:
        print(f"  note: {note}")
    return int(figures["cpu_seconds"] > CPU_LIMIT or figures["peak_mb"] > MEMORY_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
