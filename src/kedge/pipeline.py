"""The whole way from files to matches: the only module that names every stage.

read -> (hold anchors out, score, calibrate) -> score with all anchors -> decide -> evaluate
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from kedge import evaluate
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
from kedge.link.evidence import Evidence, terms
from kedge.link.explain import Explanation, explain
from kedge.methods import METHODS, settle
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
    load_column,
    open_run,
    peak_mb,
    read_decisions,
    read_manifest,
    to_plain,
)
from kedge.types import DECISIONS, IntArray, Matches, Problem

__all__ = [
    "Contents",
    "Inputs",
    "Progress",
    "Silent",
    "Solution",
    "explain_pair",
    "load_contents",
    "load_decided",
    "load_evidence",
    "load_matches",
    "load_run",
    "match",
    "match_to_run",
    "measure",
]

_SUPPORT: Final = "model/support.npz"
_LASTING: Final = ("keep the left network", "keep the right network")  # stages that decisions do not touch


class Progress(Protocol):
    """Who is told how far the work has come."""

    def note(self, text: str) -> None:
        """A line for the user."""
        ...

    def stage(self, name: str, done: bool = False) -> None:
        """A stage begins, or was found finished."""
        ...

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """How far the stage has come."""
        ...


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Nothing."""

    def stage(self, name: str, done: bool = False) -> None:
        """Nothing."""

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Nothing."""


@dataclass(frozen=True)
class Inputs:
    """Where the networks, the anchors and perhaps the held-out pairs come from: paths or objects."""

    left: Any
    right: Any
    anchors: Any
    test: Any | None = None


@dataclass(frozen=True)
class Solution:
    """All that matching found out."""

    problem: Problem
    alignment: Alignment
    calibrator: Calibrator
    matches: Matches


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
    return build_problem(left, right, resolved, columns, config.read.contradictory)


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
    if config.method == "evidence":
        # The beliefs explain single pairs later; computed here only if a kill came between the two stages.
        run.stage(
            "keep the beliefs",
            _SUPPORT,
            SPARSE,
            lambda: (heard or [_hear(problem, config)])[0].support,
        )
    matches = decide(problem, alignment, calibrator, config)
    run.stage("decide", "matches.parquet", TABLE, matches.table)
    return Solution(problem, alignment, calibrator, matches)


def _score(problem: Problem, config: Config, heard: list[Evidence]) -> Alignment:
    """The method's scores; evidence is also handed out, since explanations need more than its scores."""
    if config.method != "evidence":
        alignment: Alignment = _method(config)(problem, config, config.seed)
        return alignment
    from kedge.methods.evidence import scores

    heard.append(_hear(problem, config))
    return scores(problem, heard[0])


def _hear(problem: Problem, config: Config) -> Evidence:
    from kedge.methods.evidence import hear

    return hear(problem, config, config.seed)


def _refuse_unfinished(directory: Path) -> Mapping[str, Any]:
    manifest = read_manifest(directory)
    if "decide" not in manifest["stages"] or not (directory / "matches.parquet").exists():
        raise KedgeError("the run is not finished", file=directory, remedy="run its `kedge match` command again")
    return manifest


def load_run(directory: Path) -> tuple[Solution, Config, Mapping[str, Any]]:
    """A finished run from its directory alone: what was found, how it was asked, and the manifest."""
    manifest = _refuse_unfinished(directory)
    config = Config.model_validate(manifest["config"])
    return _load_solution(directory, config), config, manifest


def load_decided(directory: Path) -> tuple[Problem, Matches, Config, Mapping[str, Any]]:
    """A finished run as it was decided, without its scores: quicker than `load_run` where only looking is meant."""
    manifest = _refuse_unfinished(directory)
    problem = _load_problem(directory)
    file = directory / "matches.parquet"
    coded = {name: load_column(file, name, coded=True) for name in ("left", "right", "decision")}
    found = {
        "left": problem.left.find(coded["left"].dictionary),
        "right": problem.right.find(coded["right"].dictionary),
        "decision": np.array([DECISIONS.index(word) for word in coded["decision"].dictionary.to_pylist()], np.int8),
    }
    plain = ("rank", "score", "probability", "margin", "counterpart", "assigned")
    matches = Matches(
        left_ids=problem.left.ids,
        right_ids=problem.right.ids,
        **{name: found[name][np.asarray(coded[name].indices)] for name in found},
        **{name: load_column(file, name).to_numpy(zero_copy_only=False) for name in plain},
    )
    return problem, matches, Config.model_validate(manifest["config"]), manifest


def _load_problem(directory: Path) -> Problem:
    left, right = (NETWORK.load(directory / "networks" / f"{side}.npz") for side in ("left", "right"))
    known = ARRAYS.load(directory / "networks" / "anchors.npz")
    return Problem(left, right, known["anchors"], known.get("rejected", np.empty((0, 2), np.int64)))


def _load_solution(directory: Path, config: Config) -> Solution:
    problem = _load_problem(directory)
    calibrator = from_plain(Calibrator, JSON.load(directory / "model" / "calibration.json"))
    alignment = ALIGNMENT.load(directory / "model" / "scores.npz")
    return Solution(problem, alignment, calibrator, decide(problem, alignment, calibrator, config))


@dataclass(frozen=True)
class Contents:
    """What lies in the directory of a finished run, as it was written: nothing is computed again.

    `metrics` and `evaluation` are of the test pairs, None where the run had none; `training` and `parts` are there only
    if the method left them.
    """

    manifest: Mapping[str, Any]
    config: Config
    problem: Problem
    calibrator: Calibrator
    table: pa.Table
    metrics: Mapping[str, Any] | None
    evaluation: Mapping[str, Any] | None
    training: Mapping[str, Any] | None
    parts: Mapping[str, Any] | None


def load_contents(directory: Path) -> Contents:
    """All that a report shows, read from a finished run."""
    manifest = _refuse_unfinished(directory)
    left, right = (NETWORK.load(directory / "networks" / f"{side}.npz") for side in ("left", "right"))
    held = {}
    for name in ("metrics", "evaluation", "model/training", "model/parts"):
        path = directory / f"{name}.json"
        held[name] = JSON.load(path) if path.exists() else None
    return Contents(
        manifest=manifest,
        config=Config.model_validate(manifest["config"]),
        problem=Problem(left, right, ARRAYS.load(directory / "networks" / "anchors.npz")["anchors"]),
        calibrator=from_plain(Calibrator, JSON.load(directory / "model" / "calibration.json")),
        table=TABLE.load(directory / "matches.parquet"),
        metrics=held["metrics"] if held["metrics"] and held["metrics"].get("test_pairs") else None,
        evaluation=held["evaluation"],
        training=held["model/training"],
        parts=held["model/parts"],
    )


def load_evidence(directory: Path, problem: Problem, config: Config) -> Evidence | None:
    """What explains the log-odds of a run's pairs; None where its method left nothing of the kind."""
    if config.method != "evidence" or not (directory / _SUPPORT).exists():
        return None
    from kedge.methods.evidence import recall

    return recall(problem, SPARSE.load(directory / _SUPPORT))


def load_matches(directory: Path, candidates: int) -> pa.Table:
    """The table of matches of a finished run, decided anew where more candidates are asked for than it kept."""
    config = Config.model_validate(_refuse_unfinished(directory)["config"])
    if candidates <= config.candidates:
        table: pa.Table = TABLE.load(directory / "matches.parquet")
        return table
    return _load_solution(directory, config.model_copy(update={"candidates": candidates})).matches.table()


def measure(solution: Solution, test: IntArray | None, seed: int) -> dict[str, Any]:
    """Every metric on held-out pairs; null where it cannot be computed. Looks at the test pairs, learns nothing.

    `ece` compares the probability of each test account's best candidate, given that the account has a counterpart (test
    accounts have one), with whether it is the right one.
    """
    pairs = np.empty((0, 2), np.int64) if test is None else test
    matches, problem = solution.matches, solution.problem
    true, false = evaluate.balanced_pairs(pairs, problem.right.n, problem.anchors, np.random.default_rng(seed))
    says = partial(solution.calibrator.says_link, problem, solution.alignment)
    partner = np.full(problem.left.n, -1)
    known = pairs[(pairs >= 0).all(axis=1)]
    partner[known[:, 0]] = known[:, 1]
    asked = (matches.rank == 1) & (partner[matches.left] >= 0)
    given = matches.probability[asked] / np.maximum(matches.counterpart[asked], 1e-9)
    return {
        **evaluate.ranking(solution.alignment, pairs),
        **evaluate.decisions(matches.partners(), pairs),
        **evaluate.macro(says(true), says(false)),
        "ece": evaluate.calibration_error(np.clip(given, 0, 1), matches.right[asked] == partner[matches.left[asked]]),
        "test_pairs": len(pairs),
    }


def explain_pair(directory: Path, left: str, right: str) -> Explanation:
    """Why the run thinks what it thinks of two accounts, given by their ids."""
    problem, matches, config, _ = load_decided(directory)
    accounts = []
    for side, network, name in (("left", problem.left, left), ("right", problem.right, right)):
        account = int(network.find([name])[0])
        if account < 0:
            other = problem.right if side == "left" else problem.left
            hint = "; it is on the other side: exchange the two" if other.find([name])[0] >= 0 else ""
            raise KedgeError(f"no {side} account {name!r} in this run{hint}", file=directory, remedy="check the id")
        accounts.append(account)
    evidence = load_evidence(directory, problem, config)
    u, v = accounts
    if evidence is None:
        note = f"the method {config.method} leaves no evidence of single neighbours"
        return explain(problem, matches, u, v, lambda _left, _right: [], notes=(note,))
    found = terms(problem, evidence, u, v)
    # The comparison of degrees belongs to no neighbour: it is where the waterfall begins.
    prior = sum(term.weight for term in found if term.a < 0 and term.b < 0)
    neighbours = [term for term in found if term.a >= 0 or term.b >= 0]
    return explain(problem, matches, u, v, lambda _left, _right: neighbours, prior=prior)
