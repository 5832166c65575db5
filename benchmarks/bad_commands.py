"""How many command lines that cannot be meant end in one line and exit code 2: `python benchmarks/bad_commands.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "src"))

import command_lines as cases  # noqa: E402
from command import kedge as run_kedge  # noqa: E402
from command import match_words, plant  # noqa: E402
from reliability import keep  # noqa: E402


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = plant(folder / "data")
        run_kedge(*match_words(data, folder / "run", "-q"))
        places = cases.places(folder, data, folder / "run")
        bad = [line for line in cases.BAD if not cases.is_one_line(cases.run(line, places))]
    print(f"{len(cases.BAD)} bad command lines, {len(bad)} of them without one line and exit code 2")
    print(*bad, sep="\n", end="\n" if bad else "")
    keep(
        "lines",
        "command lines that cannot be meant",
        f"{len(cases.BAD)} command lines",
        f"{len(bad)} other than one line and exit code 2",
        "python benchmarks/bad_commands.py",
    )
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
