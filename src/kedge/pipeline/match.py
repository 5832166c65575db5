"""Two networks matched: in memory, or into a run directory that can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedge.answers import learn
from kedge.config import Config, to_toml
from kedge.context import Progress, RunContext, Silent, cpu_seconds, one_blas_thread, peak_mb
from kedge.decide import threshold_grid
from kedge.evaluation import breakdown
from kedge.evidence import with_vectors
from kedge.ingest import estimate_cost, read_pairs, resolve_test
from kedge.pipeline.costs import count_refinements
from kedge.pipeline.forget import forget_accounts
from kedge.pipeline.hypergraphs import HYPERGRAPHS
from kedge.pipeline.inputs import Inputs, read_problem
from kedge.pipeline.measure import measure
from kedge.pipeline.notes import outcome_notes
from kedge.pipeline.report import write_report
from kedge.pipeline.solve import MemoryRun, Outcome, solve
from kedge.store import (
    CONFIG,
    DECIDED,
    DECISIONS_FILE,
    EVALUATION,
    JSON,
    METRICS,
    NETWORKS,
    REPORT,
    TEXT,
    Identity,
    Run,
    hash_file,
    load_contents,
    open_run,
    purged_accounts,
    read_decisions,
)
from kedge.store import HYPERGRAPHS as HYPERGRAPH_STAGES
from kedge.types import DECISIONS, IntArray, Problem

_LASTING = (*NETWORKS, *HYPERGRAPH_STAGES)  # stages that decisions of reviewers do not touch


def match(inputs: Inputs, config: Config, progress: Progress | None = None) -> Outcome:
    """Match two networks in memory."""
    progress = progress or Silent()
    problem = read_problem(inputs, config, progress)
    outcome = solve(problem, config, MemoryRun(RunContext(progress=progress)))
    for note in _notes(outcome):
        progress.note(note)
    return outcome


@one_blas_thread()
def match_to_run(
    inputs: Inputs, directory: Path, config: Config, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Match two files into a run directory, or go on where an earlier call stopped; the summary for people and JSON."""
    progress = progress or Silent()
    started = cpu_seconds()
    # Read before the directory is touched: bad input leaves nothing behind.
    problem = _without_purged(directory, read_problem(inputs, config, progress), progress)
    test = _read_test(inputs, problem, config, progress)
    _note_cost(problem, config, progress)
    hashes = _hash_inputs(inputs)
    given = len(problem.anchors)
    problem, learned = _with_decisions(directory, problem, hashes, progress)
    # Where the work is done changes nothing in its result: a run may be resumed on another engine.
    identity = Identity(hashes, config.model_dump(mode="json", exclude={"engine"}))
    with open_run(directory, identity, force=force, lasting=_LASTING, progress=progress) as run:
        run.write(CONFIG, TEXT, to_toml(config))
        outcome = solve(problem, config, run, given)
        run.cache.sweep()
        metrics = _write_results(run, outcome, test, config)
        for note in _notes(outcome):
            progress.note(note)
        progress.stage("writing the report")
        write_report(load_contents(directory), directory / REPORT)
    return {
        "run": str(directory),
        "matches": len(outcome.matches.partners("match")),
        "threshold": outcome.matches.threshold,
        "decisions": learned,
        "metrics": metrics,
        "cpu_seconds": round(cpu_seconds() - started, 3),
        "peak_mb": round(peak_mb(), 1),
        "report": str(directory / REPORT),
    }


def _read_test(inputs: Inputs, problem: Problem, config: Config, progress: Progress) -> IntArray | None:
    """The held-out pairs, if the user gave any."""
    if inputs.test is None:
        return None
    test, notes = resolve_test(read_pairs(inputs.test, config.read), problem)
    for note in notes:
        progress.note(note)
    return test


def _note_cost(problem: Problem, config: Config, progress: Progress) -> None:
    repeated = count_refinements(problem.left, problem.right, len(problem.anchors), with_vectors(problem, config))
    seconds, megabytes = estimate_cost(problem.left, problem.right, repeated)
    progress.note(f"this will take roughly {seconds:,.0f} CPU seconds and {megabytes:,.0f} MB")


def _hash_inputs(inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Name, size and checksum of every input file that a run depends on."""
    given = {"left": inputs.left, "right": inputs.right, "anchors": inputs.anchors}
    given |= dict(zip(HYPERGRAPHS, inputs.hypergraphs, strict=True))
    return {name: hash_file(Path(source)) for name, source in given.items() if source is not None}


def _write_results(run: Run, outcome: Outcome, test: IntArray | None, config: Config) -> dict[str, Any]:
    """The threshold with its counts, and what was measured on held-out pairs; returns the metrics."""
    matches = outcome.matches
    counts = {decision: len(matches.partners(decision)) for decision in DECISIONS}
    review_from = min(config.decide.review, matches.threshold)
    run.write(DECIDED, JSON, {"threshold": matches.threshold, "review_from": review_from, **counts})
    metrics = measure(outcome, test, config.seed)
    run.write(METRICS, JSON, metrics)
    # Without held-out pairs it is null: an older one would belong to other pairs.
    grid = [0.0, *threshold_grid(matches.threshold)]
    run.write(EVALUATION, JSON, breakdown(outcome.problem, matches, test, grid, config.seed))
    return metrics


def _notes(outcome: Outcome) -> tuple[str, ...]:
    """What the user should know of the probabilities and of the matches, each thing once."""
    return tuple(dict.fromkeys((*outcome.calibrator.notes, *outcome_notes(outcome.matches))))


def _without_purged(directory: Path, problem: Problem, progress: Progress) -> Problem:
    """The problem as if the files did not name the accounts that were purged from this directory."""
    forgotten = purged_accounts(directory, problem)
    count = len(forgotten[0]) + len(forgotten[1])
    if count:
        progress.note(f"{count:,} purged accounts are still in the files; they are left out")
    return forget_accounts(problem, forgotten)


def _with_decisions(
    directory: Path, problem: Problem, hashes: dict[str, dict[str, Any]], progress: Progress
) -> tuple[Problem, dict[str, int]]:
    """The problem with what reviewers decided in this directory; it becomes part of what identifies the run."""
    state = read_decisions(directory)
    resolved = None if state is None else state.resolved()
    if not resolved:
        return problem, {"confirmed": 0, "rejected": 0}
    size = (directory / DECISIONS_FILE).stat().st_size
    hashes["decisions"] = {"name": DECISIONS_FILE, "bytes": size, "sha256": resolved.digest}
    problem, learned = learn(problem, resolved)
    for note in learned.notes:
        progress.note(note)
    return problem, {"confirmed": learned.confirmed, "rejected": learned.rejected}
