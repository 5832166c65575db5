"""Bad inputs of every kind, each refused in one line with its file, a remedy and exit code 2. Goal: no traceback.

The cases of `tests/cli/test_bad_inputs.py`, and the faults of text packed, recoded and with other line ends.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from measuring import ROOT
from reliability import keep

sys.path.insert(0, str(ROOT / "tests" / "support"))

from refused_inputs import all_cases, fault_of, variants, write_good


def main() -> None:
    cases = [*all_cases(), *variants()]
    faults = []
    for bad in cases:
        with tempfile.TemporaryDirectory() as folder:
            write_good(Path(folder))
            if fault := fault_of(bad, Path(folder)):
                faults.append(fault)
    kinds = Counter(bad.given_as for bad in cases)
    for fault in faults:
        print(fault)
    tracebacks = sum("a traceback" in fault or "exit code 1" in fault for fault in faults)
    print(", ".join(f"{count} as {kind}" for kind, count in kinds.items()))
    print(f"{len(cases)} bad inputs, {tracebacks} tracebacks, {len(faults)} not refused in one line with exit code 2")
    keep(
        "inputs",
        "bad inputs: text, Parquet, compressed files, pipes, settings, anchors",
        f"{len(cases)} inputs",
        f"{tracebacks} tracebacks; {len(faults)} other than one line and exit code 2",
        "python benchmarks/bad_inputs.py",
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
