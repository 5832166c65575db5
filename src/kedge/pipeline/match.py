"""Two networks matched: in memory, or into a run directory that can be resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from kedge import store
from kedge.answers import Sample
from kedge.config import Config, to_toml
from kedge.context import Noting, Progress, RunContext, Silent, cpu_seconds, one_blas_thread, peak_mb
from kedge.pipeline.identity import hash_inputs
from kedge.pipeline.inputs import Inputs, cost_note, forget_accounts, hold_pipes, read_problem, read_test
from kedge.pipeline.results import results, without_anchors
from kedge.pipeline.solve import MemoryRun, Outcome, solve
from kedge.report import build_report
from kedge.types import IntArray, KedgeError, Matches, Problem

_EQUAL: Final = 1e-9  # of a score: they are sums of floats, in an order that differs between pairs
_LASTING: Final = (
    *store.NETWORKS,
    *store.HYPERGRAPHS,
    *store.SHARED_VALUES,
    *store.PROFILES,
)  # stages that decisions of reviewers do not touch


def match_in_memory(inputs: Inputs, config: Config, progress: Progress | None = None) -> Outcome:
    """Match two networks in memory; the matches have the notes."""
    progress = Noting(progress or Silent())
    problem = read_problem(inputs, config, progress)
    run = MemoryRun(RunContext(progress=progress))
    outcome = replace(solve(problem, config, run), cache=run.context.cache)
    for note in _notes(outcome):
        progress.note(note)
    return replace(outcome, matches=replace(outcome.matches, notes=tuple(progress.notes)))


@one_blas_thread()
def match_to_run(
    inputs: Inputs, directory: Path, config: Config, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Match two networks into a run directory, or go on where an earlier call stopped; the summary."""
    progress = progress or Silent()
    started = cpu_seconds()
    inputs = hold_pipes(inputs, config)
    # Locked first: a place that cannot be written is refused before any work, and no purge comes between reading and
    # writing. Bad input leaves nothing behind.
    with store.hold_run(directory):
        read = read_problem(inputs, config, progress)
        problem = _without_purged(directory, read, progress)
        test = read_test(inputs, problem, config, progress)
        progress.note(cost_note(problem, config))
        hashes = hash_inputs(inputs, read)
        given = len(problem.anchors)
        problem, learned = _with_decisions(directory, problem, hashes, progress, force)
        # Where the work is done changes nothing in its result: a run may be resumed on another engine.
        identity = store.Identity(hashes, config.identity())
        run = store.resume_run(directory, identity, force=force, lasting=_LASTING, progress=progress)
        for stage, network in zip(store.NETWORKS, (problem.left, problem.right), strict=True):
            run.renew_if_changed(stage, network)
        run.write(store.CONFIG, store.TEXT, to_toml(config))
        outcome = solve(problem, _as_decided(run, config), run, given, _sample(run))
        run.record_vectors()
        files = results(outcome, without_anchors(_held_out(run, test, problem), problem, progress.note))
        for file, value in files.items():
            run.write(file, store.JSON, value)
        for note in _notes(outcome):
            progress.note(note)
        progress.stage("writing the report")
        write_report(store.load_contents(directory), directory / store.REPORT)
    return {
        "run": str(directory),
        "matches": len(outcome.matches.partners("match")),
        "threshold": outcome.matches.threshold,
        "expected_precision": outcome.matches.expected_precision,
        "suspects": len(outcome.suspects),
        "decisions": learned,
        "metrics": files[store.METRICS],
        "cpu_seconds": round(cpu_seconds() - started, 3),
        "peak_mb": round(peak_mb(), 1),
        "report": str(directory / store.REPORT),
    }


def _as_decided(run: store.Run, config: Config) -> Config:
    """The configuration with what `kedge decide` chose for this run."""
    chosen = run.manifest.get("decide", {})
    if chosen:
        named = ", ".join(f"{name} {'not set' if value is None else value}" for name, value in chosen.items())
        run.progress.note(f"decided with {named}, as `kedge decide` chose; --force starts anew")
    return config.model_copy(update={"decide": store.run_config(run.manifest).decide})


def _sample(run: store.Run) -> Sample | None:
    """The sample of an audit, with the answers that the decisions of this run use already."""
    if run.artefacts.has(store.AUDIT) and not run.artefacts.is_whole(store.AUDIT):
        run.progress.note(f"{store.AUDIT} was damaged or missing: `kedge audit` draws the sample again")
        del run.manifest["files"][store.AUDIT]
        run.manifest["stages"].pop(store.MATCHES.id, None)  # they follow from the answers in it
    return store.load_sample(run.artefacts)


def _held_out(run: store.Run, test: IntArray | None, problem: Problem) -> IntArray | None:
    """The held-out pairs: those given now, which the run saves, else those that it was given before."""
    if test is not None:
        run.write(store.HELD_OUT, store.TABLE, store.held_out_table(test, problem))
    elif run.artefacts.has(store.HELD_OUT) and not run.artefacts.is_whole(store.HELD_OUT):
        run.progress.note(f"{store.HELD_OUT} was damaged or missing: give --test again")
        del run.manifest["files"][store.HELD_OUT]
    return store.load_held_out(run.artefacts, problem)


def write_report(contents: store.Contents, path: Path) -> Path:
    """Write the page, whole or not at all; an older report is replaced, any other file is not."""
    check_report_path(path)
    page = build_report(contents).encode()
    store.write_atomically(path, lambda file: file.write(page))
    return path


def check_report_path(path: Path) -> None:
    """Refuse, before any work, a place that cannot be written and a file that is no report."""
    store.refuse_overwrite(path, force=True)
    if path.exists():
        with path.open("rb") as file:
            if b'content="kedge' not in file.read(4096):
                raise KedgeError("exists and is no kedge report", file=path, remedy="choose another name")


def _without_purged(directory: Path, problem: Problem, progress: Progress) -> Problem:
    """The problem as if the files did not name the accounts that were purged from this directory."""
    forgotten = store.purged_accounts(directory, problem)
    count = len(forgotten[0]) + len(forgotten[1])
    if count:
        progress.note(f"{count:,} purged accounts are still in the files; they are left out")
    return forget_accounts(problem, forgotten)


def _with_decisions(
    directory: Path, problem: Problem, hashes: dict[str, dict[str, Any]], progress: Progress, force: bool
) -> tuple[Problem, dict[str, int]]:
    """The problem with what reviewers decided in this directory; it becomes part of what identifies the run."""
    state = store.read_decisions(directory, force=force)
    resolved = None if state is None else state.resolved()
    if state is None or not resolved:
        return problem, {"confirmed": 0, "rejected": 0}
    from kedge.answers.learn import learn

    size = (directory / store.DECISIONS_FILE).stat().st_size
    # Count and head: a log that loses these rows later is refused.
    record = {"count": len(state.entries), "head": state.entries[-1].hash}
    hashes["decisions"] = {"name": store.DECISIONS_FILE, "bytes": size, "sha256": resolved.digest, **record}
    problem, learned = learn(problem, resolved)
    for note in learned.notes:
        progress.note(note)
    return problem, {"confirmed": learned.confirmed, "rejected": learned.rejected}


def _notes(outcome: Outcome) -> tuple[str, ...]:
    """What the user should know of the probabilities and of the matches, each thing once."""
    notes = (*outcome.suspects.notes, *outcome.calibrator.notes, *match_notes(outcome.matches))
    return tuple(dict.fromkeys(notes))


def match_notes(matches: Matches) -> tuple[str, ...]:
    """One line for each reason why no pair, or no certain pair, was found."""
    if len(matches.left) == 0:
        return ("no account has any candidate, so nothing is matched",)
    notes = []
    accounts, tied = int((matches.rank == 1).sum()), _tied(matches)
    if tied and np.ptp(matches.score) <= _EQUAL * max(float(np.abs(matches.score).max()), 1.0):
        notes.append("all scores are equal: the method does not distinguish candidates")
    elif 2 * tied > accounts:
        notes.append(
            f"{tied:,} of {accounts:,} accounts have several best candidates with equal scores: "
            "which of them stands first means nothing"
        )
    if matches.threshold >= 1 and matches.probability.max() < 1:
        notes.append(
            "no probability is 1: with a precision or threshold of 1 nothing is called a match; ask for less, e.g. 0.95"
        )
    elif len(matches.partners("match")) == 0:
        notes.append(
            f"no pair is sure enough to be called a match: the surest has a probability of "
            f"{matches.probability.max():.2f}, the threshold is {matches.threshold:.2f}"
        )
    return tuple(notes)


def _tied(matches: Matches) -> int:
    """How many accounts have more than one candidate with their best score."""
    best = np.full(int(matches.left.max()) + 1, -np.inf)
    np.maximum.at(best, matches.left, matches.score)
    best = best[matches.left]
    leading = matches.score >= best - _EQUAL * np.maximum(np.abs(best), 1.0)
    return int((np.bincount(matches.left[leading]) > 1).sum())
