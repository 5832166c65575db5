"""The one way from a problem to an outcome: `kedge.match`, `kedge match` and every experiment use it.

    choose settings -> embed the networks -> run without validation anchors -> examine the anchors -> calibrate
    -> score pairs -> decide

A stage is computed by a run: `MemoryRun` saves nothing, `store.Run` saves every stage and resumes.
An outcome is measured on held-out pairs, and read again from a finished run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from kedge import store
from kedge.answers import Sample
from kedge.config import Config, DecideConfig, flatten
from kedge.context import Cache, Progress, RunContext, Within, cpu_seconds, one_blas_thread
from kedge.decide import decide, decide_audited, threshold_grid
from kedge.evaluation import breakdown, metrics
from kedge.methods import Method, find_method
from kedge.pipeline.start import Started, start
from kedge.probability import AnyCalibrator, Fold, calibrate_on, count_folds, find_suspects, run_folds
from kedge.profiles import FittedFields, compared_columns, fit_fields
from kedge.types import Alignment, BoolArray, IntArray, Matches, Problem, Support, Suspects, pair_keys

_OF_METHODS: Final = ("engine", "evidence", "hypergraph", "mgcn", "pairing", "partition", "shared")
_SHOWN: Final = 6  # settings in a note


class Run(Protocol):
    """Where stages are computed, and what methods may use meanwhile."""

    @property
    def context(self) -> RunContext:
        """Cache and progress."""
        ...

    def stage(self, stage: store.Stage, compute: Callable[[], Any]) -> Any:
        """The value of a stage: computed, or as an earlier run has saved it."""
        ...

    def has(self, stage: store.Stage) -> bool:
        """Whether an earlier run has saved it."""
        ...

    def save(self, stage: store.Stage, make: Callable[[], Any]) -> None:
        """Save what is needed to read the run back; a run in memory does not make it."""
        ...


@dataclass
class MemoryRun:
    """A run that saves nothing; `seconds` is the CPU time of each stage, by its id."""

    context: RunContext = field(default_factory=RunContext)
    seconds: dict[str, float] = field(default_factory=dict)

    def stage(self, stage: store.Stage, compute: Callable[[], Any]) -> Any:
        """Compute it."""
        self.context.progress.stage(stage.label)
        before = cpu_seconds()
        value = compute()
        self.seconds[stage.id] = cpu_seconds() - before
        return value

    def has(self, stage: store.Stage) -> bool:  # noqa: ARG002
        """No."""
        return False

    def save(self, stage: store.Stage, make: Callable[[], Any]) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Outcome:
    """The result of matching; `config` is the resolved configuration, `audit` what an audit shows of the matches,
    `cache` what a match in memory has cached, its vectors among it."""

    problem: Problem
    config: Config
    alignment: Alignment
    calibrator: AnyCalibrator
    matches: Matches
    audit: Mapping[str, Any] | None = None
    suspects: Suspects = field(default_factory=Suspects)
    cache: Cache | None = None

    def predicts_link(self, pairs: IntArray) -> BoolArray:
        """Yes or no for any pairs, by the calibrator's rule or by the pair network alone (`pairing.decides`).

        The network answers yes from a probability of 0.5 on. Without a network, as with too few anchors, the rule does.
        """
        if self.config.pairing.decides == "network":
            odds = self.alignment.log_odds(pairs)
            if odds.any():
                return np.asarray(odds > 0)
        return self.calibrator.predicts_link(self.problem, self.alignment, pairs)

    def decided(self, change: Mapping[str, Any]) -> Outcome:
        """The same, decided with other values of these settings of `decide`."""
        chosen = DecideConfig.model_validate({**self.config.decide.model_dump(), **change})
        config = self.config.model_copy(update={"decide": chosen})
        matches = decide(self.problem, self.alignment, self.calibrator, config)
        return replace(self, config=config, matches=replace(matches, notes=self.matches.notes))

    def audited(self, sample: Sample | None) -> Outcome:
        """The same, decided with the answers of an audit."""
        if sample is None:
            return self
        matches, summary = decide_audited(self.matches, sample, self.config.decide)
        return replace(self, matches=matches, audit=summary)


@one_blas_thread()
def solve(
    problem: Problem, config: Config, run: Run, given: int | None = None, sample: Sample | None = None
) -> Outcome:
    """Match two networks. The first `given` anchors are the user's own: only they are used for calibration.

    `sample`: that of an audit, whose answers correct the decisions.
    """
    method, context = find_method(config.method), run.context
    _save_problem(problem, run, given)
    started = start(problem, config, given, context.progress)
    asked, problem, given = (problem, problem, given) if started is None else (problem, started.problem, started.count)
    if method.embeds:  # nothing that is left open has an effect on their vectors
        _train(problem, config, method, run)
    resolved = run.stage(store.SETTINGS, lambda: method.choose_settings(problem, config, context))
    # Neither where the work is done nor how pairs are decided is part of what was chosen: both may change later.
    config = resolved.model_copy(update={"engine": config.engine, "decide": config.decide})
    _note_unused(problem, config, method, context.progress)
    if not method.embeds:
        _train(problem, config, method, run)
    # One set of runs for both; after a kill between the two stages, once more.
    folds = cache(lambda: hold_out(problem, config, method, context, given))
    suspects = Suspects()
    # A run that an earlier version has calibrated on all anchors stays as it is.
    if started is None and config.decide.suspects and (run.has(store.SUSPECTS) or not run.has(store.CALIBRATION)):
        suspects = run.stage(store.SUSPECTS, lambda: find_suspects(problem, folds()))
    # Reach is kedge's own: methods of others are judged by their scores and nothing else.
    hops = config.decide.hops if method.explains else 0

    def calibrated() -> AnyCalibrator:
        found = calibrate_on(folds(), config, hops, suspects)
        return found if started is None else started.doubting(found)

    calibrator: AnyCalibrator = run.stage(store.CALIBRATION, calibrated)
    alignment = _score(suspects.trusted(problem), config, method, run, started)
    matches = decide(asked, alignment, calibrator, config)
    outcome = Outcome(asked, config, alignment, calibrator, matches, suspects=suspects).audited(sample)
    run.save(store.MATCHES, outcome.matches.table)
    return outcome


def _train(problem: Problem, config: Config, method: Method, run: Run) -> None:
    """Train the method's vectors, if it has any, into the cache of the run."""
    if method.trains_vectors(config):
        known = cache(lambda: method.prepare(problem, config, run.context))
        run.stage(store.TRAINING, lambda: known()["training"])
        run.save(store.PARTS, lambda: known()["parts"])


def hold_out(
    problem: Problem, config: Config, method: Method, context: RunContext, given: int | None = None
) -> list[Fold]:
    """The runs without some anchors, by resolved settings; `given` as in `solve`."""
    removes = not (method.embeds or method.trains_vectors(config))
    runs = count_folds(len(problem.anchors[:given]), config.decide.holdout, config.decide.folds)
    number, progress = count(), context.progress

    def report() -> Progress:
        place = next(number)
        progress.advance(place, runs, "folds")
        return Within(progress, place, runs, "fold")

    def align(fewer: Problem) -> Alignment:
        mine = report()
        # What is made of networks without decoys' partners is used once: it belongs to no cache.
        whole = fewer.left is problem.left and fewer.right is problem.right
        kept = replace(context, progress=mine) if whole else RunContext(progress=mine, scratch=context.cache)
        return method.align(fewer, config, kept)

    def realign(fewer: Problem, before: Alignment) -> Alignment:
        return method.realign(fewer, before, config, RunContext(progress=report(), scratch=context.cache))

    folds = run_folds(problem, align, config.decide, given, removes, realign)
    progress.advance(runs, runs, "folds")
    return folds


def _save_problem(problem: Problem, run: Run, given: int | None) -> None:
    for stage, network in zip(store.NETWORKS, (problem.left, problem.right), strict=True):
        run.save(stage, partial(_same, network))
    drawn = (*problem.hypergraphs, *problem.shared_values)
    for stage, own in zip((*store.HYPERGRAPHS, *store.SHARED_VALUES), drawn, strict=True):
        if own is not None:
            run.save(stage, partial(_same, own.H))
    anchors = np.asarray(problem.anchors)
    confirmed = anchors[len(anchors) if given is None else given :]
    known = {"anchors": anchors, "rejected": np.asarray(problem.rejected), "confirmed": confirmed}
    run.save(store.ANCHORS, lambda: known)


def _same(value: Any) -> Any:
    return value


def _note_unused(problem: Problem, config: Config, method: Method, progress: Progress) -> None:
    """Notes where the method makes no use of the user's hyperedges, or of settings that are not the usual ones."""
    if (
        not method.trains_vectors(config)
        and method.refines
        and any(own is not None for own in (*problem.hypergraphs, *problem.shared_values))
    ):
        progress.note("the hypergraph is not used: --set pairing.use=yes --set pairing.vectors=mgcn makes use of it")
    # Compared with the defaults: where a value came from is not known here.
    usual, read = flatten(Config().model_dump()), method.groups(config)
    read |= {"engine"} if method.uses_engine(problem, config) else set()
    given = [
        name
        for name, value in flatten(config.model_dump()).items()
        if value != usual[name] and name.partition(".")[0] in _OF_METHODS and name.partition(".")[0] not in read
    ]
    if given:
        more = f" and {len(given) - _SHOWN} more" if len(given) > _SHOWN else ""
        progress.note(f"no effect on the method {method.name} here: {', '.join(given[:_SHOWN])}{more}")


def _score(problem: Problem, config: Config, method: Method, run: Run, started: Started | None) -> Alignment:
    """The method's alignment, and what explains its pairs later, where it leaves anything of the kind."""

    # Computed once; after a kill between two of these stages, once more.
    def align(given: Problem) -> Alignment:
        return method.align(given, config, run.context)

    aligned = cache(lambda: align(problem) if started is None else started.align(align))

    def support() -> Support:
        found = aligned().support
        if found is None:
            raise TypeError("a method that explains pairs returned no support")
        return found

    def prior() -> csr_array:
        found = support()
        return csr_array(found.beliefs.shape) if found.prior is None else found.prior

    alignment: Alignment = run.stage(store.SCORES, aligned)
    if method.explains:
        run.save(store.SUPPORT, lambda: support().beliefs)
        if config.pairing.use == "yes" or problem.profiles is not None:
            run.save(store.PRIOR, prior)
    if problem.profiles is not None:
        _save_profiles(problem, config, run)
    return alignment


def _save_profiles(problem: Problem, config: Config, run: Run) -> None:
    """What the fields are worth, and their values unless `profiles.keep` is none."""
    fitted = cache(lambda: fit_fields(problem, config))
    run.save(store.FIELDS, fitted)
    for side, stage in enumerate(store.PROFILES):
        if config.profiles.keep == "all":
            run.save(stage, partial(_compared, problem, side, fitted))


def _compared(problem: Problem, side: int, fitted: Callable[[], FittedFields]) -> pa.Table:
    return None if problem.profiles is None else compared_columns(fitted(), problem.profiles)[side].table


def measure(outcome: Outcome, test: IntArray | None, seed: int) -> dict[str, Any]:
    """Every metric on held-out pairs; null where it cannot be computed. Nothing is fitted to the test pairs.

    `precision`, `recall` and `f1` are of all assigned partners, however uncertain; `match_precision` and so on of those
    that were called a match. Where the test pairs are a sample of the true ones, the truth lies between `precision` and
    `sample_precision` (evaluation.metrics.decisions).

    Macro figures are at one false pair for each true one, as in the paper, and at two (`_1to2`), by the same rule.

    `ece` compares the probability of each test account's best candidate, given that the account has a counterpart (test
    accounts have one), with whether it is the right one.
    """
    pairs = np.empty((0, 2), np.int64) if test is None else test
    matches, problem = outcome.matches, outcome.problem
    draw = partial(metrics.balanced_pairs, pairs, problem.right.n, problem.anchors)
    true, one = draw(np.random.default_rng(seed))
    _, two = draw(np.random.default_rng([seed, 2]), ratio=2)
    drawn = np.concatenate([true, one, two])
    cuts = [len(true), len(true) + len(one)]
    linked_true, linked_one, linked_two = np.split(outcome.predicts_link(drawn), cuts)
    partner = np.full(problem.left.n, -1)
    known = pairs[(pairs >= 0).all(axis=1)]
    partner[known[:, 0]] = known[:, 1]
    best = (matches.rank == 1) & (partner[matches.left] >= 0)
    called = metrics.decisions(matches.partners("match"), pairs)
    given = matches.probability[best] / np.maximum(matches.counterpart[best], 1e-9)
    return {
        **metrics.ranking(outcome.alignment, pairs),
        **metrics.decisions(matches.partners(), pairs),
        **{f"match_{name}": called[name] for name in ("precision", "sample_precision", "recall", "f1")},
        **metrics.macro(linked_true, linked_one),
        **{f"{name}_1to2": value for name, value in metrics.macro(linked_true, linked_two).items()},
        "ece": metrics.calibration_error(np.clip(given, 0, 1), matches.right[best] == partner[matches.left[best]]),
        "test_pairs": len(pairs),
    }


def break_down(outcome: Outcome, test: IntArray | None, seed: int) -> dict[str, Any] | None:
    """What became of the held-out pairs, by threshold, degree and community; None without such pairs."""
    grid = [0.0, *threshold_grid(outcome.matches.threshold)]
    return breakdown(outcome.problem, outcome.matches, test, grid, seed)


def load_outcome(
    directory: Path, candidates: int | None = None, config: Config | None = None, *, audited: bool = True
) -> Outcome:
    """The outcome of a finished run; with so many candidates for each account, or decided by another configuration.

    `audited`: with the answers of an audit that its decisions use, if there are any.
    """
    scored = store.load_scored(directory)
    sample = store.load_sample(store.open_artefacts(directory)) if audited else None
    config = config or scored.config
    if candidates is not None:
        config = config.model_copy(update={"candidates": candidates})
    matches = decide(scored.problem, scored.alignment, scored.calibrator, config)
    return Outcome(scored.problem, config, scored.alignment, scored.calibrator, matches).audited(sample)


def load_table(directory: Path, candidates: int) -> pa.Table:
    """The table of matches of a finished run; where more candidates are asked for than it saved, with further rows.

    More rivals change probabilities a little. The decisions are those of the run all the same.
    """
    run = store.open_finished(directory)
    if candidates <= store.run_config(run.manifest).candidates:
        table: pa.Table = run.load(store.MATCHES)
        return table
    problem, saved, _ = store.load_decided(run)
    return _with_decisions(load_outcome(directory, candidates).matches, saved, problem.right.n).table()


def table_of(outcome: Outcome, candidates: int) -> pa.Table:
    """The same of a match in memory."""
    if candidates <= outcome.config.candidates:
        return outcome.matches.table()
    config = outcome.config.model_copy(update={"candidates": candidates})
    more = decide(outcome.problem, outcome.alignment, outcome.calibrator, config)
    return _with_decisions(more, outcome.matches, outcome.problem.right.n).table()


def _with_decisions(more: Matches, saved: Matches, width: int) -> Matches:
    """Matches with further candidates, decided as those without; `width` is the number of right accounts."""
    keys, known = pair_keys(more.left, more.right, width), pair_keys(saved.left, saved.right, width)
    rows, saved_rows = np.intersect1d(keys, known, return_indices=True)[1:]
    decision, assigned = np.zeros(len(more), np.int8), np.zeros(len(more), bool)
    decision[rows], assigned[rows] = saved.decision[saved_rows], saved.assigned[saved_rows]
    return replace(more, decision=decision, assigned=assigned, threshold=saved.threshold)
