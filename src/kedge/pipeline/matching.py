"""From networks and anchors to matches: in memory, or into a run directory that can be resumed.

read -> (embed) -> (hold anchors out, score, calibrate) -> score with all anchors -> decide -> evaluate
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import Alignment
from kedge.breakdown import breakdown
from kedge.config import Config, to_toml
from kedge.decisions import learn
from kedge.errors import KedgeError
from kedge.forgetting import forget_accounts
from kedge.ingest import build_problem, read_network, read_pairs, resolve_pairs, resolve_test
from kedge.ingest.check import estimate_cost, hub_warning
from kedge.link.calibrate import Calibrator
from kedge.link.calibrate import calibrate as fit_calibrator
from kedge.link.decide import choose_threshold, decide, threshold_grid
from kedge.link.evidence import Evidence
from kedge.methods import METHODS, evidenced, prepare, settle, trains
from kedge.methods.settling import with_vectors
from kedge.pipeline.anchors import anchor_notes
from kedge.pipeline.costs import turns_in_all
from kedge.pipeline.hypergraphs import HYPERGRAPHS, refuse_idle_hypergraphs, tell_unused, with_hypergraphs
from kedge.pipeline.layout import DECIDED, EMBEDDINGS, HYPERGRAPH_FILES, PARTS, PRIOR, SETTLED, SUPPORT, TRAINING
from kedge.pipeline.outcome import outcome_notes
from kedge.pipeline.solution import Inputs, Solution, measure
from kedge.progress import Progress, Silent
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
    purged_accounts,
    read_decisions,
    to_plain,
)
from kedge.threads import one_blas_thread
from kedge.types import DECISIONS, Problem
from kedge.workshop import Workshop

__all__ = ["calibrate", "match", "match_to_run"]


_KEPT: Final = ("left network", "right network", *HYPERGRAPHS)
_LASTING: Final = tuple(f"keep the {name}" for name in _KEPT)  # stages that decisions do not touch


def _method(config: Config) -> Any:
    if config.method not in METHODS:
        raise KedgeError(f"no method {config.method!r}", remedy=f"choose one of: {', '.join(METHODS)}")
    return METHODS[config.method]


def read_problem(inputs: Inputs, config: Config, progress: Progress) -> Problem:
    """The two networks, the observed anchors, and hypergraphs that the user gave."""
    refuse_idle_hypergraphs(inputs, config)
    progress.stage("reading the left network")
    left, _ = read_network(inputs.left, config.read)
    progress.stage("reading the right network")
    right, _ = read_network(inputs.right, config.read)
    columns = read_pairs(inputs.anchors, config.read)
    resolved = resolve_pairs(columns, left, right)
    for note in resolved.report.notes:
        progress.note(f"anchors: {note}")
    problem = build_problem(left, right, resolved, columns, config.read.contradictory)
    if resolved.report.contradictory:
        progress.note(f"{resolved.report.contradictory:,} anchors give one account several partners and are left out")
    problem = with_hypergraphs(problem, (left, right), inputs, config, progress)
    hubs = (hub_warning(side, network) for side, network in (("left", problem.left), ("right", problem.right)))
    for note in (*filter(None, hubs), *anchor_notes(problem, config.method)):
        progress.note(note)
    return problem


def calibrate(
    problem: Problem, config: Config, given: int | None = None, workshop: Workshop | None = None
) -> Calibrator:
    """Learn what scores mean from anchors that the method did not see; drawn from the first `given` of them."""
    method = _method(config)
    return fit_calibrator(
        problem,
        lambda observed, seed: method(observed, config, seed, workshop),
        share=config.decide.holdout,
        folds=config.decide.folds,
        candidates=config.candidates,
        seed=config.seed,
        given=given,
        # The rule is kedge's own only for kedge's own method: others are judged by their scores and nothing else.
        hops=config.decide.hops if evidenced(config.method) is not None else 0,
    )


@one_blas_thread()
def match(inputs: Inputs, config: Config, progress: Progress | None = None) -> Solution:
    """Match two networks in memory."""
    progress = progress or Silent()
    problem = read_problem(inputs, config, progress)
    workshop = Workshop(progress=progress)
    progress.stage("settling what the method leaves open")
    config = settle(problem, config, config.seed, workshop)
    tell_unused(problem, config, progress)
    if trains(config):
        progress.stage("embedding the networks")
        prepare(problem, config, config.seed, workshop)
    progress.stage("calibrating on held-out anchors")
    calibrator = calibrate(problem, config, workshop=workshop)
    progress.stage(f"scoring pairs ({config.method})")
    alignment = _method(config)(problem, config, config.seed, workshop)
    progress.stage("deciding")
    solution = Solution(problem, alignment, calibrator, decide(problem, alignment, calibrator, config))
    for note in _said(solution, _threshold(solution, config)):
        progress.note(note)
    return solution


@one_blas_thread()
def match_to_run(
    inputs: Inputs, directory: Path, config: Config, *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Match two files into a run directory, or go on where an earlier call stopped; the summary for people and JSON."""
    progress = progress or Silent()
    _method(config)
    started = cpu_seconds()
    given = {name: Path(getattr(inputs, name)) for name in ("left", "right", "anchors")}
    # Read before the directory is touched: bad input leaves nothing behind.
    problem = _without_purged(directory, read_problem(inputs, config, progress), progress)
    test, notes = (None, ()) if inputs.test is None else resolve_test(read_pairs(inputs.test, config.read), problem)
    for note in notes:
        progress.note(note)
    turns = turns_in_all(problem.left, problem.right, len(problem.anchors), with_vectors(problem, config))
    seconds, megabytes = estimate_cost(problem.left, problem.right, turns)
    progress.note(f"this will take roughly {seconds:,.0f} CPU seconds and {megabytes:,.0f} MB")
    own = zip(HYPERGRAPHS, inputs.hypergraphs, strict=True)
    given |= {name: Path(source) for name, source in own if source is not None}
    hashes = {name: hash_file(path) for name, path in given.items()}
    given_anchors = len(problem.anchors)
    problem, learned = _with_decisions(directory, problem, hashes, progress)
    # Where the work is done changes nothing in its result: a run may be resumed on another engine.
    identity = Identity(hashes, config.model_dump(mode="json", exclude={"engine"}))
    with open_run(directory, identity, force, _LASTING) as run:
        run.on_stage = progress.stage
        solution = _solve_in(run, problem, config, given_anchors, progress)
        decided = _decided(solution, config)
        run.write(DECIDED, JSON, decided)
        summary = {
            "run": str(directory),
            "matches": decided["match"],
            "threshold": decided["threshold"],
            "decisions": learned,
            "metrics": measure(solution, test, config.seed),
            "cpu_seconds": round(cpu_seconds() - started, 3),
            "peak_mb": round(peak_mb(), 1),
        }
        run.write("metrics.json", JSON, summary["metrics"])
        # Without test pairs it is null: an older one would belong to other pairs.
        grid = [0.0, *threshold_grid(decided["threshold"])]
        run.write("evaluation.json", JSON, breakdown(problem, solution.matches, test, grid, config.seed))
        for note in (*run.notes, *_said(solution, decided["threshold"])):
            progress.note(note)
    return summary


def _said(solution: Solution, threshold: float) -> tuple[str, ...]:
    """What the user should know of the probabilities and of the matches, each thing once."""
    return tuple(dict.fromkeys((*solution.calibrator.notes, *outcome_notes(solution.matches, threshold))))


def _threshold(solution: Solution, config: Config) -> float:
    return choose_threshold(solution.calibrator, solution.matches.probability[solution.matches.assigned], config)


def _decided(solution: Solution, config: Config) -> dict[str, Any]:
    """The threshold that was chosen, and how many assigned pairs got each of the `DECISIONS`."""
    matches, threshold = solution.matches, _threshold(solution, config)
    counts = {decision: len(matches.partners(decision)) for decision in DECISIONS}
    return {"threshold": threshold, "review_from": min(config.decide.review, threshold), **counts}


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
    settled = None if state is None else state.settled()
    if not settled:
        return problem, {"confirmed": 0, "rejected": 0}
    size = (directory / DECISIONS_FILE).stat().st_size
    hashes["decisions"] = {"name": DECISIONS_FILE, "bytes": size, "sha256": settled.digest}
    problem, learned = learn(problem, settled)
    for note in learned.notes:
        progress.note(note)
    return problem, {"confirmed": learned.confirmed, "rejected": learned.rejected}


def _solve_in(run: Run, problem: Problem, config: Config, given: int, progress: Progress) -> Solution:
    run.write("config.toml", TEXT, to_toml(config))
    run.stage("keep the left network", "networks/left.npz", NETWORK, lambda: problem.left)
    run.stage("keep the right network", "networks/right.npz", NETWORK, lambda: problem.right)
    for name, file, own in zip(HYPERGRAPHS, HYPERGRAPH_FILES, problem.hypergraphs, strict=True):
        if own is not None:
            run.stage(f"keep the {name}", file, SPARSE, partial(getattr, own, "H"))
    known = {"anchors": np.asarray(problem.anchors), "rejected": np.asarray(problem.rejected)}
    run.stage("keep the anchors", "networks/anchors.npz", ARRAYS, lambda: known)
    shelf = run.shelf(EMBEDDINGS)
    workshop = Workshop(shelf, progress)
    settled = run.stage(
        "settle what the method leaves open",
        SETTLED,
        JSON,
        lambda: settle(problem, config, config.seed, workshop).model_dump(mode="json", exclude={"engine"}),
    )
    config = Config.model_validate(settled).model_copy(update={"engine": config.engine})
    tell_unused(problem, config, progress)
    _embed_in(run, problem, config, workshop)
    record = run.stage(
        "calibrate on held-out anchors",
        "model/calibration.json",
        JSON,
        lambda: to_plain(calibrate(problem, config, given, workshop)),
    )
    calibrator = from_plain(Calibrator, record)
    heard: list[Evidence] = []
    alignment = run.stage(
        f"score pairs ({config.method})",
        "model/scores.npz",
        ALIGNMENT,
        lambda: _score(problem, config, heard, workshop),
    )
    shelf.sweep()
    if evidenced(config.method) is not None:
        # The beliefs explain single pairs later; computed here only if a kill came between the two stages.
        run.stage("keep the beliefs", SUPPORT, SPARSE, lambda: _heard(problem, config, heard, workshop).support)
        if config.pairing.use == "yes":
            run.stage("keep the prior", PRIOR, SPARSE, lambda: _prior(_heard(problem, config, heard, workshop)))
    matches = decide(problem, alignment, calibrator, config)
    run.stage("decide", "matches.parquet", TABLE, matches.table)
    return Solution(problem, alignment, calibrator, matches)


def _embed_in(run: Run, problem: Problem, config: Config, workshop: Workshop) -> None:
    """Both networks' vectors onto the run's shelf, if the method trains any, and what a report says of them."""
    if not trains(config):
        return
    known = cache(lambda: prepare(problem, config, config.seed, workshop))
    run.stage("embed the networks", TRAINING, JSON, lambda: known()["training"])
    run.stage("keep the parts", PARTS, JSON, lambda: known()["parts"])


def _score(problem: Problem, config: Config, heard: list[Evidence], workshop: Workshop) -> Alignment:
    """The method's scores; evidence is also handed out, since explanations need more than its scores."""
    method = evidenced(config.method)
    if method is None:
        alignment: Alignment = _method(config)(problem, config, config.seed, workshop)
        return alignment
    scores: Alignment = method.scores(problem, _heard(problem, config, heard, workshop))
    return scores


def _heard(problem: Problem, config: Config, heard: list[Evidence], workshop: Workshop) -> Evidence:
    """The evidence of this run, computed once."""
    method = evidenced(config.method)
    if not heard and method is not None:
        heard.append(method.hear(problem, config, config.seed, workshop))
    return heard[0]


def _prior(evidence: Evidence) -> csr_array:
    return csr_array(evidence.log_odds.shape) if evidence.prior is None else evidence.prior
