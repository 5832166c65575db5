"""Every known way to tamper with the log of decisions, and whether `kedge decisions verify` notices it.

Goal: all are refused in one line with exit code 2, or named here as impossible to notice without a head that was saved
outside of the run directory; with such a head (`verify --head`) these are refused too.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measuring import ROOT
from reliability import keep

sys.path.insert(0, str(ROOT / "tests" / "support"))
from command import kedge_code
from tampering import TAMPERINGS, Tampering, head_of, make_run


def outcome(made: Path, tampering: Tampering) -> str:
    """What verify does about it: without a head, and with the one saved before."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(made, copy)
        run = copy / "run"
        head = head_of(run)
        tampering.act(run)
        plain = kedge_code("decisions", run, "verify")
        if plain.exit_code == 2 and len(plain.stderr.splitlines()) == 1:
            return "always"
        informed = kedge_code("decisions", run, "verify", "--head", head, "--json")
        if informed.exit_code == 2 and len(informed.stderr.splitlines()) == 1:
            return "with an outside head"
        return "shown" if informed.exit_code == 0 and json.loads(informed.stdout)["after_head"] else "UNNOTICED"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        made.mkdir()
        make_run(made)
        counts: Counter[str] = Counter()
        for tampering in TAMPERINGS:
            found = outcome(made, tampering)
            counts[found] += 1
            print(f"{tampering.name:64} {found}" + ("" if found == tampering.noticed else "  NOT AS EXPECTED"))
    print(f"{len(TAMPERINGS)} kinds of tampering: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    keep(
        "log",
        "the log of decisions changed, cut, replaced or added to by hand, then `kedge decisions verify`",
        f"{len(TAMPERINGS)} kinds of tampering",
        f"{counts['UNNOTICED']} unnoticed: {counts['always']} refused always, {counts['with an outside head']} refused "
        f"with a head saved outside of the run, {counts['shown']} shown as decisions after that head",
        "python benchmarks/log_tampering.py",
    )


if __name__ == "__main__":
    main()
