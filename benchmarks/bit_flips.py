"""Single bits flipped in all files of a finished run: every reader must notice, or give the undamaged result.

A flip counts as noticed when each command that reads the file ends with one line that names it, as without effect when
they give the same result as before. Commands run in this process; a flip is read by those that open the file. Goal: 0
unnoticed, 0 defects.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring import ROOT
from reliability import keep

sys.path.insert(0, str(ROOT / "tests" / "support"))
from flipped_bits import Flips, readers

from kedge.store import Draft, record_purged

ASSETS = ROOT / "tests" / "assets"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, started, wrong = np.random.default_rng(asked.seed), time.perf_counter(), []
    fates: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for method in ("kedge", "mgcn"):
            run = Path(shutil.copytree(ASSETS / "run-format-6" / method, Path(folder) / method))
            draft = Draft(run)
            record_purged(run, draft, 0, "someone")
            draft.commit()
            made.append(Flips(run, readers(ASSETS / "run-format-4" / "pair" / "test.tsv")))
        done = 0
        while done < asked.flips and time.perf_counter() - started < asked.seconds:
            for flips in made:
                flips.flip_some(50, rng)
                done += 50
        for flips in made:
            wrong += flips.wrong
            for fate, count in flips.fates.items():
                fates[fate] = fates.get(fate, 0) + count
        files = sum(len(flips.files) for flips in made)
    for fate, count in sorted(fates.items()):
        print(f"{fate}: {count:,}")
    for line in wrong[:20]:
        print(line)
    print(f"{done:,} bit flips over all {files} files of two runs: {fates.get('wrong', 0)} unnoticed")
    counted = ", ".join(f"{count:,} {fate}" for fate, count in sorted(fates.items()) if fate != "wrong")
    keep(
        "flips",
        "one bit flipped in a file of a finished run, then every command that reads the file",
        f"{done:,} flips over all {files} files of two runs",
        f"{fates.get('wrong', 0)} unnoticed ({counted})",
        "python benchmarks/bit_flips.py",
    )


if __name__ == "__main__":
    main()
