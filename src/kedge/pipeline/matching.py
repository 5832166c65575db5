"""From networks and anchors to matches: in memory, or into a run directory that can be resumed.

read -> (hold anchors out, score, calibrate) -> score with all anchors -> decide -> evaluate
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import Alignment
from kedge.breakdown import breakdown
from kedge.config import Config, to_toml
from kedge.decisions import learn
from kedge.errors import KedgeError
from kedge.ingest import build_problem, read_network, read_pairs, resolve_pairs, resolve_test
from kedge.ingest.check import estimate_cost
from kedge.link.calibrate import Calibrator
from kedge.link.calibrate import calibrate as fit_calibrator
from kedge.link.decide import choose_threshold, decide, threshold_grid
from kedge.link.evidence import Evidence
from kedge.methods import METHODS, evidenced, settle
from kedge.pipeline.anchors import anchor_notes
from kedge.pipeline.layout import PRIOR, SUPPORT
from kedge.pipeline.progress import Progress, Silent
from kedge.pipeline.solution import Inputs, Solution, measure
from kedge.store import (
    ALIGNMENT,
    ARRAYS,
    DECISIONS_FILE,
    JSON,
    NETWORK,
    SPARSE,
    TABLE,
    TEXT,
    Identity,
    Run,
    cpu_seconds,
    from_plain,
    hash_file,
    open_run,
    peak_mb,
    read_decisions,
    to_plain,
)
from kedge.types import IntArray, Problem

__all__ = ["match", "match_to_run"]


_LASTING: Final = ("keep the left network", "keep the right network")  # stages that decisions do not touch


def _method(config: Config) -> Any:
    if config.method not in METHODS:
        raise KedgeError(f"no method {config.method!r}", remedy=f"choose one of: {', '.join(METHODS)}")
    return METHODS[config.method]


def read_problem(inputs: Inputs, config: Config, progress: Progress) -> Problem:
    """The two networks and the observed anchors."""
    progress.stage("reading the left network")
    left, _ = read_network(inputs.left, config.read)
    progress.stage("reading the right network")
    right, _ = read_network(inputs.right, config.read)
    columns = read_pairs(inputs.anchors, config.read)
    resolved = resolve_pairs(columns, left, right)
    for note in resolved.report.notes:
        progress.note(f"anchors: {note}")
    if resolved.report.unknown:
        progress.note(f"{resolved.report.unknown} anchors name an account that is in no edge; they carry no evidence")
    problem = build_problem(left, right, resolved, columns, config.read.contradictory)
    for note in anchor_notes(problem, config.method):
        progress.note(note)
    return problem


def calibrate(problem: Problem, config: Config, given: int | None = None) -> Calibrator:
    """Learn what scores mean from anchors that the method did not see; drawn from the first `given` of them."""
    method = _method(config)
    return fit_calibrator(
        problem,
        lambda observed, seed: method(observed, config, seed),
        share=config.decide.holdout,
        folds=config.decide.folds,
        candidates=config.candidates,
        seed=config.seed,
        given=given,
    )


def match(inputs: Inputs, config: Config, progress: Progress | None = None) -> Solution:
    """Match two networks in memory."""
    progress = progress or Silent()
    problem = read_problem(inputs, config, progress)
    progress.stage("calibrating on held-out anchors")
    config = settle(problem, config, config.seed)
    calibrator = calibrate(problem, config)
    progress.stage(f"scoring pairs ({config.method})")
    alignment = _method(config)(problem, config, config.seed)
    progress.stage("deciding")
    return Solution(problem, alignment, calibrator, decide(problem, alignment, calibrator, config))


def match_to_run(
    inputs: Inputs, directory: Path, config: Config, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Match two files into a run directory, or go on where an earlier call stopped; the summary for people and JSON."""
    progress = progress or Silent()
    _method(config)
    started = cpu_seconds()
    given = {name: Path(getattr(inputs, name)) for name in ("left", "right", "anchors")}
    # Read before the directory is touched: bad input leaves nothing behind.
    problem = read_problem(inputs, config, progress)
    test, notes = (None, ()) if inputs.test is None else resolve_test(read_pairs(inputs.test, config.read), problem)
    for note in notes:
        progress.note(note)
    seconds, megabytes = estimate_cost(problem.left, problem.right)
    progress.note(f"this will take roughly {seconds:,.0f} CPU seconds and {megabytes:,.0f} MB")
    hashes = {name: hash_file(path) for name, path in given.items()}
    given_anchors = len(problem.anchors)
    problem, learned = _with_decisions(directory, problem, hashes, progress)
    identity = Identity(hashes, config.model_dump(mode="json"))
    with open_run(directory, identity, force, _LASTING) as run:
        run.on_stage = progress.stage
        solution = _solve_in(run, problem, config, given_anchors)
        summary = {
            "run": str(directory),
            "matches": len(solution.matches.partners("match")),
            "decisions": learned,
            "metrics": measure(solution, test, config.seed),
            "cpu_seconds": round(cpu_seconds() - started, 3),
            "peak_mb": round(peak_mb(), 1),
        }
        run.write("metrics.json", JSON, summary["metrics"])
        # Without test pairs it is null: an older one would belong to other pairs.
        run.write("evaluation.json", JSON, _break_down(solution, test, config))
        for note in (*run.notes, *solution.calibrator.notes):
            progress.note(note)
    return summary


def _break_down(solution: Solution, test: IntArray | None, config: Config) -> dict[str, Any] | None:
    matches = solution.matches
    threshold = choose_threshold(solution.calibrator, matches.probability[matches.assigned], config)
    return breakdown(solution.problem, matches, test, [0.0, *threshold_grid(threshold)], config.seed)


def _with_decisions(
    directory: Path, problem: Problem, hashes: dict[str, dict[str, Any]], progress: Progress
) -> tuple[Problem, dict[str, int]]:
    """The problem with what reviewers decided in this directory; it becomes part of what identifies the run."""
    state = read_decisions(directory)
    settled = None if state is None else state.settled()
    if not settled:
        return problem, {"confirmed": 0, "rejected": 0}
    size = (directory / DECISIONS_FILE).stat().st_size
    hashes["decisions"] = {"name": DECISIONS_FILE, "bytes": size, "sha256": settled.digest}
    problem, learned = learn(problem, settled)
    for note in learned.notes:
        progress.note(note)
    return problem, {"confirmed": learned.confirmed, "rejected": learned.rejected}


def _solve_in(run: Run, problem: Problem, config: Config, given: int) -> Solution:
    run.write("config.toml", TEXT, to_toml(config))
    run.stage("keep the left network", "networks/left.npz", NETWORK, lambda: problem.left)
    run.stage("keep the right network", "networks/right.npz", NETWORK, lambda: problem.right)
    known = {"anchors": np.asarray(problem.anchors), "rejected": np.asarray(problem.rejected)}
    run.stage("keep the anchors", "networks/anchors.npz", ARRAYS, lambda: known)
    settled = run.stage(
        "settle what the method leaves open",
        "model/settled.json",
        JSON,
        lambda: settle(problem, config, config.seed).model_dump(mode="json"),
    )
    config = Config.model_validate(settled)
    record = run.stage(
        "calibrate on held-out anchors",
        "model/calibration.json",
        JSON,
        lambda: to_plain(calibrate(problem, config, given)),
    )
    calibrator = from_plain(Calibrator, record)
    heard: list[Evidence] = []
    alignment = run.stage(
        f"score pairs ({config.method})", "model/scores.npz", ALIGNMENT, lambda: _score(problem, config, heard)
    )
    if evidenced(config.method) is not None:
        # The beliefs explain single pairs later; computed here only if a kill came between the two stages.
        run.stage("keep the beliefs", SUPPORT, SPARSE, lambda: _heard(problem, config, heard).support)
        if config.pairing.use == "yes":
            run.stage("keep the prior", PRIOR, SPARSE, lambda: _prior(_heard(problem, config, heard)))
    matches = decide(problem, alignment, calibrator, config)
    run.stage("decide", "matches.parquet", TABLE, matches.table)
    return Solution(problem, alignment, calibrator, matches)


def _score(problem: Problem, config: Config, heard: list[Evidence]) -> Alignment:
    """The method's scores; evidence is also handed out, since explanations need more than its scores."""
    method = evidenced(config.method)
    if method is None:
        alignment: Alignment = _method(config)(problem, config, config.seed)
        return alignment
    scores: Alignment = method.scores(problem, _heard(problem, config, heard))
    return scores


def _heard(problem: Problem, config: Config, heard: list[Evidence]) -> Evidence:
    """The evidence of this run, computed once."""
    method = evidenced(config.method)
    if not heard and method is not None:
        heard.append(method.hear(problem, config, config.seed))
    return heard[0]


def _prior(evidence: Evidence) -> csr_array:
    return csr_array(evidence.log_odds.shape) if evidence.prior is None else evidence.prior
