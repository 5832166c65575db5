"""Data frames in, a data frame out: `python match_frames.py DATA`, with the files of `kedge demo --files DATA`."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

import kedge


def main(data: Path) -> None:
    """Match two frames, and count how many matches are right."""
    left, right = (pd.read_csv(data / f"{side}.csv") for side in ("left", "right"))
    known = pd.read_csv(data / "known.csv")
    # Any column may be named; these would be found without it.
    run = kedge.match(left, right, known, settings={"read.columns": "source,target"})
    found = run.matches.to_pandas().query("decision == 'match'")

    truth = set(pd.read_csv(data / "held-out.csv").itertuples(index=False, name=None))
    right_ones = sum(pair in truth for pair in found[["left", "right"]].itertuples(index=False, name=None))
    print(f"{len(found)} matches, {right_ones} of them among the {len(truth)} held-out pairs")
    print(found[["left", "right", "probability"]].head(3).to_string(index=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
