"""What is made of an outcome: measured, noted, written with its report, and read again from a finished run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kedge import store
from kedge.config import Config
from kedge.decide import decide, threshold_grid
from kedge.evaluation import breakdown, metrics
from kedge.pipeline.solve import Outcome
from kedge.report import build_report
from kedge.types import DECISIONS, IntArray, KedgeError, Matches

_EQUAL: Final = 1e-9  # of a score: they are sums of floats, in an order that differs between pairs


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
    linked_true, linked_one, linked_two = np.split(
        outcome.calibrator.predicts_link(problem, outcome.alignment, drawn), [len(true), len(true) + len(one)]
    )
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


def write_results(run: store.Run, outcome: Outcome, test: IntArray | None, config: Config) -> dict[str, Any]:
    """The threshold with its counts, and what was measured on held-out pairs; returns the metrics."""
    matches = outcome.matches
    counts = {decision: len(matches.partners(decision)) for decision in DECISIONS}
    review_from = min(config.decide.review, matches.threshold)
    run.write(store.DECIDED, store.JSON, {"threshold": matches.threshold, "review_from": review_from, **counts})
    figures = measure(outcome, test, config.seed)
    run.write(store.METRICS, store.JSON, figures)
    # Without held-out pairs it is null: an older one would belong to other pairs.
    grid = [0.0, *threshold_grid(matches.threshold)]
    run.write(store.EVALUATION, store.JSON, breakdown(outcome.problem, matches, test, grid, config.seed))
    return figures


def write_report(contents: store.Contents, path: Path) -> Path:
    """Write the page, whole or not at all; an older report is replaced, any other file is not."""
    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give the name of a file")
    if path.exists() and b'content="kedge' not in path.read_bytes()[:4096]:
        raise KedgeError("exists and is no kedge report", file=path, remedy="choose another name")
    page = build_report(contents).encode()
    store.write_atomically(path, lambda file: file.write(page))
    return path


def load_outcome(directory: Path, candidates: int | None = None) -> Outcome:
    """The outcome of a finished run, with at most so many candidates for each account."""
    scored = store.load_scored(directory)
    config = scored.config if candidates is None else scored.config.model_copy(update={"candidates": candidates})
    matches = decide(scored.problem, scored.alignment, scored.calibrator, config)
    return Outcome(scored.problem, config, scored.alignment, scored.calibrator, matches)


def load_table(directory: Path, candidates: int) -> pa.Table:
    """The table of matches of a finished run, decided again where more candidates are asked for than it saved."""
    config = Config.model_validate(store.refuse_unfinished(directory)["config"])
    if candidates <= config.candidates:
        table: pa.Table = store.MATCHES.format.load(directory / store.MATCHES.file)
        return table
    return load_outcome(directory, candidates).matches.table()


def outcome_notes(outcome: Outcome) -> tuple[str, ...]:
    """What the user should know of the probabilities and of the matches, each thing once."""
    return tuple(dict.fromkeys((*outcome.calibrator.notes, *_match_notes(outcome.matches))))


def _match_notes(matches: Matches) -> tuple[str, ...]:
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
    if len(matches.partners("match")) == 0:
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
