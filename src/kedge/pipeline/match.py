"""Two networks matched: in memory, or into a run directory that can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedge import store
from kedge.answers import learn
from kedge.config import Config, to_toml
from kedge.context import Progress, RunContext, Silent, cpu_seconds, one_blas_thread, peak_mb
from kedge.pipeline.forget import forget_accounts
from kedge.pipeline.inputs import Inputs, cost_note, read_problem, read_test
from kedge.pipeline.results import outcome_notes, write_report, write_results
from kedge.pipeline.solve import MemoryRun, Outcome, solve
from kedge.types import Problem

_LASTING = (*store.NETWORKS, *store.HYPERGRAPHS)  # stages that decisions of reviewers do not touch


def match_in_memory(inputs: Inputs, config: Config, progress: Progress | None = None) -> Outcome:
    """Match two networks in memory."""
    progress = progress or Silent()
    problem = read_problem(inputs, config, progress)
    outcome = solve(problem, config, MemoryRun(RunContext(progress=progress)))
    for note in outcome_notes(outcome):
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
    test = read_test(inputs, problem, config, progress)
    progress.note(cost_note(problem, config))
    hashes = _hash_inputs(inputs)
    given = len(problem.anchors)
    problem, learned = _with_decisions(directory, problem, hashes, progress)
    # Where the work is done changes nothing in its result: a run may be resumed on another engine.
    identity = store.Identity(hashes, config.model_dump(mode="json", exclude={"engine"}))
    with store.open_run(directory, identity, force=force, lasting=_LASTING, progress=progress) as run:
        run.write(store.CONFIG, store.TEXT, to_toml(config))
        outcome = solve(problem, config, run, given)
        run.cache.sweep()
        metrics = write_results(run, outcome, test, config)
        for note in outcome_notes(outcome):
            progress.note(note)
        progress.stage("writing the report")
        write_report(store.load_contents(directory), directory / store.REPORT)
    return {
        "run": str(directory),
        "matches": len(outcome.matches.partners("match")),
        "threshold": outcome.matches.threshold,
        "decisions": learned,
        "metrics": metrics,
        "cpu_seconds": round(cpu_seconds() - started, 3),
        "peak_mb": round(peak_mb(), 1),
        "report": str(directory / store.REPORT),
    }


def _hash_inputs(inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Name, size and checksum of every input file that a run depends on."""
    given = {"left": inputs.left, "right": inputs.right, "anchors": inputs.anchors}
    given |= dict(zip(("left hypergraph", "right hypergraph"), inputs.hypergraphs, strict=True))
    return {name: store.hash_file(Path(source)) for name, source in given.items() if source is not None}


def _without_purged(directory: Path, problem: Problem, progress: Progress) -> Problem:
    """The problem as if the files did not name the accounts that were purged from this directory."""
    forgotten = store.purged_accounts(directory, problem)
    count = len(forgotten[0]) + len(forgotten[1])
    if count:
        progress.note(f"{count:,} purged accounts are still in the files; they are left out")
    return forget_accounts(problem, forgotten)


def _with_decisions(
    directory: Path, problem: Problem, hashes: dict[str, dict[str, Any]], progress: Progress
) -> tuple[Problem, dict[str, int]]:
    """The problem with what reviewers decided in this directory; it becomes part of what identifies the run."""
    state = store.read_decisions(directory)
    resolved = None if state is None else state.resolved()
    if not resolved:
        return problem, {"confirmed": 0, "rejected": 0}
    size = (directory / store.DECISIONS_FILE).stat().st_size
    hashes["decisions"] = {"name": store.DECISIONS_FILE, "bytes": size, "sha256": resolved.digest}
    problem, learned = learn(problem, resolved)
    for note in learned.notes:
        progress.note(note)
    return problem, {"confirmed": learned.confirmed, "rejected": learned.rejected}
