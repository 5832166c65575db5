"""A finished run decided again from its scores: with other candidates, or to be measured."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kedge.config import Config
from kedge.decide import decide
from kedge.pipeline.solve import Outcome
from kedge.store import MATCHES, load_scored, refuse_unfinished


def load_outcome(directory: Path, candidates: int | None = None) -> Outcome:
    """The outcome of a finished run, with at most so many candidates for each account."""
    scored = load_scored(directory)
    config = scored.config if candidates is None else scored.config.model_copy(update={"candidates": candidates})
    matches = decide(scored.problem, scored.alignment, scored.calibrator, config)
    return Outcome(scored.problem, config, scored.alignment, scored.calibrator, matches)


def load_table(directory: Path, candidates: int) -> pa.Table:
    """The table of matches of a finished run, decided again where more candidates are asked for than it saved."""
    config = Config.model_validate(refuse_unfinished(directory)["config"])
    if candidates <= config.candidates:
        table: pa.Table = MATCHES.format.load(directory / MATCHES.file)
        return table
    return load_outcome(directory, candidates).matches.table()
