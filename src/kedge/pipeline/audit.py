"""The audit of a run: a sample drawn and saved in it, answers read back, and decisions that use them."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from kedge import store
from kedge.answers import ANSWERS, Sample, draw
from kedge.context import one_blas_thread
from kedge.ingest import guard_table, read_answers, write_delimited
from kedge.pipeline.again import answered_sample, decide_again
from kedge.pipeline.solve import load_outcome
from kedge.types import KedgeError


@one_blas_thread()
def draw_sample(directory: Path, answers: int | None, note: Callable[[str], None], *, redraw: bool = False) -> Sample:
    """The sample of a run's audit: drawn, as it was drawn before, or extended to so many answers; the run saves it.

    `redraw`: from the pairs that are assigned now. The draw depends on ids, so most pairs and their answers stay.
    """
    if answers is not None and answers < 1:
        raise KedgeError(f"--answers is {answers}", remedy=f"ask for 1 or more; {ANSWERS} is the default")
    store.read_manifest(directory)
    with store.hold_run(directory):
        artefacts = store.open_finished(directory, store.DECIDED)
        earlier = None if redraw else store.load_sample(artefacts)
        sample = earlier
        if earlier is None or (answers or 0) > len(earlier):
            outcome = load_outcome(directory, audited=False)
            if not outcome.matches.assigned.any():
                raise KedgeError("no pair is assigned, so there is nothing to audit", file=directory, remedy=_CHECK)
            if earlier is not None and not earlier.is_of(outcome.matches):
                note("other pairs are assigned since the sample was drawn: --redraw draws from those of now")
            sample = draw(outcome.matches, answers or ANSWERS, outcome.config.seed, earlier)
            run = store.Run(directory, store.read_manifest(directory))
            run.write(store.AUDIT, store.SAMPLE, sample)
            sample = answered_sample(run.artefacts)
            if earlier is not None and len(sample or ()) == len(earlier):
                note(f"all {len(earlier):,} pairs that could be a match are in the sample already")
    assert sample is not None
    if not sample.called:
        note("the run calls no pair a match: the sample is of its surest pairs")
    return sample


_CHECK = "see `kedge check` for what the networks lack"


def sample_table(sample: Sample) -> pa.Table:
    """The sample as people answer it, one row per pair."""
    columns = {name: getattr(sample, name) for name in ("left", "right", "answer", "stratum")}
    probability = [round(p, 6) for p in sample.probability]
    return pa.table(
        {**{name: pa.array(values, pa.string()) for name, values in columns.items()}, "probability": probability}
    )


def dump_sample(sample: Sample, file: BinaryIO, *, raw: bool = False) -> int:
    """The sample as CSV into an open file; how many ids got an apostrophe because a spreadsheet would run them."""
    table, changed = (sample_table(sample), 0) if raw else guard_table(sample_table(sample))
    write_delimited(table, file)
    return changed


def write_sample(sample: Sample, path: Path, *, raw: bool = False) -> int:
    """The sample as a CSV file, whole or not at all; how many ids got an apostrophe."""
    changed = 0

    def write(file: BinaryIO) -> None:
        nonlocal changed
        changed = dump_sample(sample, file, raw=raw)

    store.write_atomically(path, write)
    return changed


def answering_reviewer(name: str | None) -> str:
    """The name that answers are saved with; by default the user's."""
    if name is None:
        try:
            return getpass.getuser()
        except (KeyError, OSError, ImportError):
            return "audit"
    if not name.strip() or not name.isprintable() or len(name) > 80:
        raise KedgeError("--reviewer is not a name", remedy="give 1 to 80 printable characters")
    return name.strip()


def save_answers(directory: Path, file: Path, reviewer: str, note: Callable[[str], None]) -> int:
    """Answers of a file into the log of the run; how many are new. All are checked before the first is written."""
    store.read_manifest(directory)
    sample = store.load_sample(store.open_finished(directory, store.DECIDED))
    if sample is None:
        raise KedgeError("no sample was drawn", file=directory, remedy=f"start with `kedge audit {directory}`")
    answers = read_answers(file, sample.pairs)
    if not answers:
        raise KedgeError("no row has an answer", file=file, remedy="write yes, no or unsure into the column answer")
    with store.reviewing(directory):
        log = store.open_decisions(directory, audit=True)
        try:
            run = store.read_manifest(directory)["run_id"]
            fresh = 0
            for answer in answers:
                standing = log.state.current(reviewer, (answer.left, answer.right))
                if standing is None or standing.action != answer.word:
                    log.append(reviewer, answer.word, answer.left, answer.right, run=run)
                    fresh += 1
            disputed = [pair for pair in sample.pairs if log.state.verdict(pair) == "disputed"]
            if disputed:
                note(f"reviewers disagree on {len(disputed):,} pairs of the sample: they count as not answered")
            head = log.newest
        finally:
            log.close()
    store.record_decisions(directory, head)
    return fresh


def audit_run(directory: Path, note: Callable[[str], None]) -> dict[str, Any]:
    """What the audit of a run shows; answers that its decisions do not use yet are used from now on."""
    artefacts = store.open_finished(directory, store.DECIDED)
    decided: dict[str, Any] = artefacts.read(store.DECIDED, store.JSON)
    saved, fresh = store.load_sample(artefacts), answered_sample(artefacts)
    shown = decided.get("audit")
    if fresh is not None and (fresh != saved or (any(fresh.answer) and (shown or {}).get("asked") != len(fresh))):
        decided = decide_again(directory, {}, note)
    names = ("match", "review", "no match", "threshold", "expected_precision")
    return {"run": str(directory), **{name: decided.get(name) for name in names}, "audit": decided.get("audit")}
