"""The audit of a run directory as an object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from kedge.answers import audit_sentence
from kedge.api.wording import in_python
from kedge.pipeline import answering_reviewer, audit_run, draw_sample, sample_table, save_answers, write_sample
from kedge.store import AUDIT, SAMPLE, open_finished, read_manifest, refuse_overwrite
from kedge.types import KedgeError


class Audit:
    """What an audit shows. `precision` is the share of matches that are right, with its `interval`; both None before
    any pair is answered. `sample` has the pairs to answer as an Arrow table, `file` is where they were written."""

    def __init__(self, summary: dict[str, Any], sample: pa.Table, file: Path | None) -> None:
        self.summary, self.sample, self.file = summary, sample, file

    @property
    def precision(self) -> float | None:
        """The estimated share of matches that are right."""
        found = self.summary["audit"]
        return None if found is None else found["precision"]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The limits of that share, with the confidence of 90 percent."""
        found = self.summary["audit"]
        return None if found is None or found["precision"] is None else (found["low"], found["high"])

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON types."""
        return dict(self.summary)

    def __len__(self) -> int:
        return int(self.sample.num_rows)

    def __repr__(self) -> str:
        shown = self.summary["audit"]
        open_pairs = f"Audit: {len(self):,} pairs are in the sample, none is answered."
        return open_pairs if shown is None else in_python(audit_sentence(shown))


def audit_directory(
    directory: Path,
    answers: int | None,
    out: Path | None,
    read: Path | None,
    reviewer: str | None,
    note: Callable[[str], None],
    *,
    redraw: bool,
    raw: bool,
    force: bool,
) -> Audit:
    """Draw or extend the sample, or read answers back; what the audit shows then."""
    if read is not None and (out is not None or answers is not None or redraw):
        raise KedgeError("--read reads answers", remedy="draw or extend the sample in a call of its own")
    if read is not None:
        note(f"{save_answers(directory, read, answering_reviewer(reviewer), note):,} new answers from {read}")
    else:
        if out is not None:
            read_manifest(directory)
            refuse_overwrite(out, force)  # answers in it may not be read yet
        sample = draw_sample(directory, answers, note, redraw=redraw)
        if out is not None:
            write_sample(sample, out, raw=raw)
    summary = audit_run(directory, note)
    drawn = sample_table(open_finished(directory).read(AUDIT, SAMPLE))
    return Audit(summary, drawn, out)
