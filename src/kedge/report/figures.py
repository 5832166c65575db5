"""The figures of a report: what was decided, how far to trust it, where it is right and where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kedge.report.bars import Series, grouped_bars, stacked_shares
from kedge.report.figure import Figure, Key, percent, threshold_text
from kedge.report.gather import Facts
from kedge.report.histograms import decision_histogram, mirrored_histogram
from kedge.report.lines import Line, line_chart
from kedge.report.process_figures import memory_figure, parts_figure, seconds_figure, training_figures
from kedge.report.reliability import reliability_chart
from kedge.report.scales import Plot
from kedge.types import DECISIONS

__all__ = ["draw_figures"]

_OUTCOME_COLOURS: Final = {
    "right match": "match",
    "wrong match": "bad",
    "right, in review": "review",
    "wrong, in review": "third",
    "no match": "none",
}


def draw_figures(facts: Facts) -> dict[str, Figure]:
    """Every figure that this run has numbers for, by name, in the order of the page."""
    drawn = [_thresholds(facts), _assigned(facts)]
    if facts.held_out.reliability or facts.test:
        drawn += [_reliability(facts), _held_out_histogram(facts)]
    if facts.metrics is not None:
        drawn.append(_hits(facts.metrics))
    if facts.test is not None:
        drawn += [_outcomes_by_degree(facts.test, side) for side in ("left", "right")]
        if facts.test["communities"]:
            drawn.append(_outcomes_by_community(facts.test))
    drawn.append(_decisions_by_degree(facts))
    if facts.training:
        drawn += training_figures(facts.training)
    if facts.parts:
        drawn.append(parts_figure(facts.parts))
    drawn += [seconds_figure(facts), memory_figure(facts)]
    return {figure.name: figure for figure in drawn}


def _thresholds(facts: Facts) -> Figure:
    held, test = facts.held_out_curve, facts.test_curve
    lines = [
        Line("precision", held.precision, "precision", marks="circle", key="held_out_curve.precision"),
        Line("recall", held.recall, "recall", marks="square", key="held_out_curve.recall"),
    ]
    legend = [Key("precision", "precision", "line"), Key("recall", "recall", "line-square")]
    columns = ["threshold", "matches", "review", "precision", "recall"]
    if test is not None:
        lines += [
            Line("precision, test", test.precision, "precision", dashed=True, key="test_curve.precision"),
            Line("recall, test", test.recall, "recall", dashed=True, key="test_curve.recall"),
        ]
        legend += [Key("precision, test pairs", "precision", "dashed"), Key("recall, test pairs", "recall", "dashed")]
        columns += ["precision, test", "recall, test"]
    rows = []
    for i, t in enumerate(facts.thresholds):
        if round(t * 100) % 5 == 0 or t == facts.threshold:
            row = [threshold_text(t), f"{facts.matches[i]:,}", f"{facts.review[i]:,}"]
            row += [percent(held.precision[i]), percent(held.recall[i])]
            row += [percent(test.precision[i]), percent(test.recall[i])] if test is not None else []
            rows.append(tuple(row))
    at = facts.thresholds.index(facts.threshold)
    words = (
        f"At the run's threshold {threshold_text(facts.threshold)}: precision {percent(held.precision[at])}, "
        f"recall {percent(held.recall[at])} on held-out anchors."
    )
    chart = line_chart(
        "Precision and recall by threshold",
        words,
        facts.thresholds,
        lines,
        x_ticks=(0, 0.2, 0.4, 0.6, 0.8, 1.0),
        x_words="threshold",
        y_words="share",
        y_ticks=(0, 0.25, 0.5, 0.75, 1.0),
        y_label=lambda t: f"{100 * t:.0f}%",
        guide=facts.threshold,
        plot=Plot(width=600, left=56, height=310),
    )
    caption = "Precision: share of the matches that are right. Recall: share of the true pairs that become a match."
    return Figure(
        "thresholds", "Precision and recall by threshold", caption, chart, tuple(legend), tuple(columns), tuple(rows)
    )


def _assigned(facts: Facts) -> Figure:
    counts = facts.assigned_histogram
    chart = decision_histogram(
        "Assigned pairs by probability",
        f"{sum(counts):,} pairs; those from {threshold_text(facts.threshold)} on are matches.",
        counts,
        facts.threshold,
        min(facts.review_from, facts.threshold),
        Plot(width=600, left=56, height=170),
    )
    legend = (Key("match", "match"), Key("review", "review"), Key("no match", "none"))
    rows = _merged(counts, 10)
    caption = "Every account gets at most one partner; this is how sure kedge is of these pairs."
    return Figure("assigned", "Assigned pairs by probability", caption, chart, legend, ("probability", "pairs"), rows)


def _merged(counts: Sequence[int], bins: int) -> tuple[tuple[str, ...], ...]:
    width = len(counts) // bins
    return tuple(
        (f"{b / bins:g} to {(b + 1) / bins:g}", f"{sum(counts[b * width : (b + 1) * width]):,}") for b in range(bins)
    )


def _reliability(facts: Facts) -> Figure:
    test = facts.test["reliability"] if facts.test is not None else None
    legend = [Key("held-out anchors", "precision", "circle")]
    if test is not None:
        legend.append(Key("test pairs", "recall", "square"))
    legend.append(Key("ideal", "diagonal", "diagonal"))
    rows = [
        (words, f"{row['said']:.3f}", f"{row['right'] / row['pairs']:.3f}", f"{row['pairs']:,}")
        for words, part in (("held-out anchors", facts.held_out.reliability), ("test pairs", test or ()))
        for row in part
    ]
    errors = [f"{facts.held_out.ece:.3f} on held-out anchors"] if facts.held_out.ece is not None else []
    if facts.metrics is not None and facts.metrics["ece"] is not None:
        errors.append(f"{facts.metrics['ece']:.3f} on test pairs")
    words = f"Calibration error (ECE, 15 bins): {' and '.join(errors)}. " if errors else ""
    chart = reliability_chart("Reliability", words, facts.held_out.reliability, test)
    caption = (
        f"On the diagonal, 0.8 means right 8 times in 10; below it kedge is too sure, above it too careful. {words}"
        "Best candidate of each account, given that it has a counterpart."
    )
    columns = ("pairs of", "said", "right", "pairs")
    return Figure(
        "reliability", "Do the probabilities mean what they say?", caption, chart, tuple(legend), columns, tuple(rows)
    )


def _held_out_histogram(facts: Facts) -> Figure:
    # Test pairs are more, and no part of the fit saw them: where there are any, they are shown.
    held: Any = (
        facts.test["histogram"] if facts.test else {"right": facts.held_out.right, "wrong": facts.held_out.wrong}
    )
    source = "test pairs" if facts.test else "held-out anchors"
    right, wrong = held["right"], held["wrong"]
    bins = len(right)
    title = "How well do probabilities part right from wrong?"
    words = f"Best candidates of {source}: {sum(right):,} right, {sum(wrong):,} wrong."
    chart = mirrored_histogram(title, words, right, wrong)
    rows = tuple(
        (f"{i / bins:.2f} to {(i + 1) / bins:.2f}", f"{a:,}", f"{b:,}")
        for i, (a, b) in enumerate(zip(right, wrong, strict=True))
    )
    caption = f"{words} The farther apart the two heaps, the better."
    legend = (Key("right", "good"), Key("wrong", "bad"))
    return Figure("histogram", title, caption, chart, legend, ("probability", "right", "wrong"), rows)


def _hits(metrics: Mapping[str, Any]) -> Figure:
    forth, back = metrics["left_to_right"], metrics["right_to_left"]
    ranks = sorted(int(name.removeprefix("hits")) for name in forth if name.startswith("hits"))
    groups = [str(k) for k in ranks]
    series = [
        Series("left to right", [forth[f"hits{k}"] for k in ranks], "left"),
        Series("right to left", [back[f"hits{k}"] for k in ranks], "right"),
    ]
    title = "Is the true partner among the first k?"
    words = (
        f"{metrics['test_pairs']:,} test pairs, all accounts of the other side as candidates. "
        f"Mean reciprocal rank {forth['mrr']:.3f} left to right, {back['mrr']:.3f} right to left."
    )
    chart = grouped_bars(
        title, words, groups, series, x_words="first k candidates (hits@k)", y_words="share of test pairs"
    )
    rows = [(f"hits@{k}", percent(forth[f"hits{k}"]), percent(back[f"hits{k}"])) for k in ranks]
    rows.append(("MRR", f"{forth['mrr']:.3f}", f"{back['mrr']:.3f}"))
    legend = (Key("left to right", "left"), Key("right to left", "right"))
    return Figure("hits", title, words, chart, legend, ("", "left to right", "right to left"), tuple(rows))


def _range(row: Mapping[str, Any]) -> str:
    low, high = row["from"], row["to"]
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"


def _parts_of(
    name: str,
    title: str,
    caption: str,
    x_words: str,
    y_words: str,
    groups: list[str],
    words: Sequence[str],
    colours: Sequence[str],
    counts: Sequence[Sequence[int]],
) -> Figure:
    series = [
        Series(word, [row[i] for row in counts], colour)
        for i, (word, colour) in enumerate(zip(words, colours, strict=True))
    ]
    chart = stacked_shares(title, caption, groups, series, x_words=x_words, y_words=y_words)
    rows = tuple((group, *(f"{n:,}" for n in row)) for group, row in zip(groups, counts, strict=True))
    legend = tuple(Key(one.name, one.colour) for one in series)
    return Figure(name, title, caption, chart, legend, (x_words, *words), rows)


def _outcomes_by_degree(test: Mapping[str, Any], side: str) -> Figure:
    rows = test["degree"][side]
    words = test["outcomes"]
    return _parts_of(
        f"degree-{side}",
        f"What became of test pairs, by {side} degree",
        "Accounts with few neighbours leave little to go by. Below each bar: how many test pairs it stands for.",
        f"neighbours of the {side} account",
        "share of test pairs",
        [_range(row) for row in rows],
        words,
        [_OUTCOME_COLOURS[word] for word in words],
        [row["counts"] for row in rows],
    )


def _outcomes_by_community(test: Mapping[str, Any]) -> Figure:
    rows, words = test["communities"], test["outcomes"]
    return _parts_of(
        "communities",
        "What became of test pairs, by community",
        "Communities of the left network (label propagation), the largest first; their accounts: "
        + ", ".join(f"{'rest' if row['others'] else row['place']}: {row['accounts']:,}" for row in rows)
        + ".",
        "community",
        "share of test pairs",
        ["rest" if row["others"] else str(row["place"]) for row in rows],
        words,
        [_OUTCOME_COLOURS[word] for word in words],
        [row["counts"] for row in rows],
    )


def _decisions_by_degree(facts: Facts) -> Figure:
    rows = facts.decisions_by_degree
    order = [DECISIONS.index(word) for word in ("match", "review", "no match")]
    return _parts_of(
        "decisions",
        "What was decided, by degree",
        "All left accounts without a known partner. Below each bar: how many accounts it stands for.",
        "neighbours of the left account",
        "share of accounts",
        [_range(row) for row in rows],
        ("match", "review", "no match"),
        ("match", "review", "none"),
        [[row["counts"][i] for i in order] for row in rows],
    )
