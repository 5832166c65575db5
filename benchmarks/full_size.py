"""A whole `kedge match` at the paper's full size, in a child process: CPU by stage, peak memory of all its processes,
and accuracy on held-out anchors.

    python benchmarks/full_size.py [--method kedge] [--scale 1.0] [--anchors 0.5] [--keep DIR] [-- words for match]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measuring import measure, measure_tree
from synth_full_size import FULL_SIZE

NAMES = ("--left-nodes", "--right-nodes", "--anchors", "--left-edges", "--right-edges")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", default="kedge")
    parser.add_argument("--scale", type=float, default=1.0, help="1: the full size; 0.01: a hundredth of it")
    parser.add_argument("--anchors", type=float, default=0.5, help="share of the anchors that is given")
    parser.add_argument("--keep", type=Path, help="where the pair and the run stay (a planted pair there is used)")
    parser.add_argument("more", nargs="*", help="further words for `kedge match`, after --")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.keep or Path(folder)
        run_pair(place, asked.method, asked.scale, asked.anchors, asked.more)


def run_pair(place: Path, method: str, scale: float, share: float, more: list[str]) -> None:
    data, run = place / "data", place / f"run-{method}"
    if not data.exists():
        sizes = [word for name, size in zip(NAMES, FULL_SIZE, strict=True) for word in (name, str(int(size * scale)))]
        words = ["-o", str(data), *sizes, "--overlap", "0.5", "--train", str(share), "-q"]
        made = measure(sys.executable, "-m", "kedge", "synth", *words)
        print(f"planted: {made.cpu_seconds:.0f} CPU s, {made.peak_mb:.0f} MB")
    files = [str(data / f"{name}.tsv") for name in ("left", "right", "train", "test")]
    done = measure_tree(
        sys.executable, "-m", "kedge", "match", files[0], files[1], "--anchors", files[2], "--test", files[3],
        "-o", str(run), "--method", method, "--json", *more,
    )  # fmt: skip
    summary = json.loads(done.printed)
    stages = json.loads((run / "manifest.json").read_text())["stages"]
    print(
        f"{method}, {scale:g} of the full size: {done.cpu_seconds / 60:.1f} CPU minutes, {done.peak_mb:.0f} MB at most"
    )
    for name, record in stages.items():
        print(f"  {name:40} {record['cpu_seconds']:10.1f} CPU s {record['peak_mb']:8.0f} MB so far")
    metrics = summary["metrics"]
    print(
        "  "
        + ", ".join(f"{name} {metrics[name]:.3f}" for name in ("hits1", "mrr", "macro_f1", "match_precision", "ece"))
    )


if __name__ == "__main__":
    main()
