"""On paper: what 100 million accounts and 10 billion edges would need, from costs per edge that were measured.

    python benchmarks/far_beyond.py [--accounts 1e8] [--edges 1e10] [--cores 64] [--memory 256] [--machines 16]

The measured costs are the defaults of the options; each names the benchmark that prints it. Nothing is run here; costs
are taken as linear, which benchmarks/growth.py supports only as far as it was run.
"""

from __future__ import annotations

import argparse


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=float, default=1e8)
    parser.add_argument("--edges", type=float, default=1e10, help="of both networks together")
    parser.add_argument("--cores", type=int, default=64, help="of one machine")
    parser.add_argument("--memory", type=float, default=256, help="GB of one machine")
    parser.add_argument("--machines", type=int, default=16)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--part-accounts", type=float, default=15_000, help="N_max")
    parser.add_argument(
        "--part-seconds", type=float, default=47.1, help="CPU of one part, part_cost.py --dimensions 64"
    )
    parser.add_argument("--part-edges", type=float, default=300_000, help="edges of that part")
    parser.add_argument("--read-seconds", type=float, default=0.8, help="CPU µs an edge, benchmarks/reading.py")
    parser.add_argument("--cut-seconds", type=float, default=1.63, help="CPU µs an edge, cut_cost.py")
    parser.add_argument("--cut-bytes", type=float, default=172, help="bytes an edge, cut_cost.py")
    parser.add_argument("--sketch-seconds", type=float, default=21.8, help="CPU µs an edge, cut_cost.py")
    parser.add_argument("--evidence-seconds", type=float, default=39.5, help="CPU µs an edge, full_size.py")
    parser.add_argument("--evidence-bytes", type=float, default=240, help="bytes an edge, full_size.py")
    asked = parser.parse_args()
    a, e, every = asked.accounts, asked.edges, asked.cores * asked.machines
    # A part's cost is nearly all steps, and a step's is by edge once they outnumber accounts as they do here.
    train = asked.part_seconds / asked.part_edges * e
    rows = [
        ("read", asked.read_seconds * e / 1e6, 12 * 2 * e, "one process"),
        ("cut (Louvain, one thread)", asked.cut_seconds * e / 1e6, asked.cut_bytes * e, "one process"),
        ("sketch", asked.sketch_seconds * e / 1e6, 4 * 4 * asked.dimensions * a + 24 * e, "one process"),
        ("train parts", train, 1.2e9 * every, "every core"),
        ("vectors, lay together", 1e-5 * a * asked.dimensions / 64, 2 * 4 * asked.dimensions * a, "one process"),
        ("evidence and calibration", asked.evidence_seconds * e / 1e6, asked.evidence_bytes * e, "one process"),
    ]
    print(f"{a:.0e} accounts, {e:.0e} edges, about {a / asked.part_accounts:,.0f} parts")
    print("stage | CPU hours | memory GB | runs on | hours there | fits one machine")
    for name, seconds, size, where in rows:
        hours = seconds / 3600 / (every if where == "every core" else 1)
        fits = "yes" if where == "every core" or size / 1e9 <= asked.memory else "NO"
        print(f"{name} | {seconds / 3600:,.0f} | {size / 1e9:,.0f} | {where} | {hours:,.1f} | {fits}")


if __name__ == "__main__":
    main()
