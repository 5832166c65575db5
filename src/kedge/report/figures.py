"""The figures of a report: decisions, reliability, errors by degree and community, training, time and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from kedge.report import charts
from kedge.report.axes import Labels, round_ticks
from kedge.report.blocks import Figure, Key, percent, threshold_text
from kedge.report.facts import Facts
from kedge.report.trials import trial_figure
from kedge.types import DECISIONS

_OUTCOME_COLOURS: Final = {
    "right match": "match",
    "wrong match": "bad",
    "right, in review": "review",
    "wrong, in review": "third",
    "no match": "none",
}
_LITTLE: Final = 0.01  # of the time of all stages: no row of its own
_DECISION_COLOURS: Final = {"match": "match", "review": "review", "no match": "none"}


def draw_figures(facts: Facts) -> dict[str, Figure]:
    """Every figure that this run has numbers for, by name, in the order of the page."""
    drawn = [_thresholds(facts), _assigned(facts)]
    if facts.validation.reliability or facts.test:
        drawn += [_reliability(facts), _right_and_wrong(facts)]
    if facts.metrics is not None:
        drawn.append(_hits(facts.metrics))
    if facts.test is not None:
        drawn += [_outcomes_by_degree(facts.test, side) for side in ("left", "right")]
        if facts.test["communities"]:
            drawn.append(_outcomes_by_community(facts.test))
    drawn.append(_decisions_by_degree(facts))
    if facts.training:
        curves = facts.training["curves"].items()
        drawn += [_training(name, lines) for name, lines in curves if any(len(line) > 1 for line in lines.values())]
        levels = {side: shares for side, shares in facts.training.get("levels", {}).items() if shares}
        drawn += [_levels(levels)] if levels else []
        chosen = facts.training.get("builders", {}).items()
        drawn += [trial_figure(name, choice) for name, choice in chosen if choice["trials"]]
    if facts.parts:
        drawn.append(_parts(facts.parts))
    drawn += [_seconds(facts), _memory(facts)]
    return {figure.name: figure for figure in drawn}


def _thresholds(facts: Facts) -> Figure:
    curves = [("validation_curve", "", facts.validation_curve)]
    if facts.test_curve is not None:
        curves.append(("test_curve", ", test pairs", facts.test_curve))
    lines, legend, columns = [], [], ["threshold", "matches", "review"]
    for name, of, curve in curves:
        for quantity, shape in (("precision", "circle"), ("recall", "square")):
            values = getattr(curve, quantity)
            lines.append(charts.Line(quantity, values, quantity, bool(of), "" if of else shape, f"{name}.{quantity}"))
            sign = "dashed" if of else "line" if shape == "circle" else "line-square"
            legend.append(Key(f"{quantity}{of}", quantity, sign))
            columns.append(f"{quantity}{of}")
    rows = [
        (
            threshold_text(t),
            f"{facts.matches[i]:,}",
            f"{facts.review[i]:,}",
            *(percent(share) for _, _, curve in curves for share in (curve.precision[i], curve.recall[i])),
        )
        for i, t in enumerate(facts.thresholds)
        if round(t * 100) % 5 == 0 or t == facts.threshold
    ]
    at, shown = facts.thresholds.index(facts.threshold), facts.validation_curve
    words = (
        f"At the run's threshold {threshold_text(facts.threshold)}: precision {percent(shown.precision[at])}, "
        f"recall {percent(shown.recall[at])} on validation anchors."
    )
    labels = Labels("Precision and recall by threshold", words, "threshold", "share")
    chart = charts.threshold_chart(labels, facts.thresholds, lines, facts.threshold)
    caption = "Precision: share of the matches that are right. Recall: share of the true pairs that become a match."
    return Figure("thresholds", labels.title, caption, chart, tuple(legend), tuple(columns), tuple(rows))


def _assigned(facts: Facts) -> Figure:
    counts = facts.assigned_histogram
    labels = Labels(
        "Assigned pairs by probability",
        f"{sum(counts):,} pairs; those from {threshold_text(facts.threshold)} on are matches.",
        "probability of the pair",
        "assigned pairs (square-root scale)",
    )
    chart = charts.decision_histogram(labels, counts, facts.threshold, min(facts.review_from, facts.threshold))
    legend = tuple(Key(decision, colour) for decision, colour in _DECISION_COLOURS.items())
    step = len(counts) // 10
    rows = tuple((f"{b / 10:g} to {(b + 1) / 10:g}", f"{sum(counts[b * step :][:step]):,}") for b in range(10))
    caption = "Each account is assigned to one other at most; this shows how probable these pairs are."
    return Figure("assigned", labels.title, caption, chart, legend, ("probability", "pairs"), rows)


def _reliability(facts: Facts) -> Figure:
    test = facts.test["reliability"] if facts.test is not None else ()
    legend = [Key("validation anchors", "precision", "circle")]
    if facts.test is not None:
        legend.append(Key("test pairs", "recall", "square"))
    legend.append(Key("ideal", "diagonal", "diagonal"))
    rows = tuple(
        (words, f"{row['predicted']:.3f}", f"{row['right'] / row['pairs']:.3f}", f"{row['pairs']:,}")
        for words, part in (("validation anchors", facts.validation.reliability), ("test pairs", test))
        for row in part
    )
    errors = [f"{facts.validation.ece:.3f} on validation anchors"] if facts.validation.ece is not None else []
    if facts.metrics is not None and facts.metrics["ece"] is not None:
        errors.append(f"{facts.metrics['ece']:.3f} on test pairs")
    words = f"Expected calibration error (15 bins): {' and '.join(errors)}. " if errors else ""
    labels = Labels(
        "Predicted probability and share that is right", words, "predicted probability", "share that is right"
    )
    chart = charts.reliability_chart(labels, facts.validation.reliability, test)
    caption = (
        "On the diagonal, pairs with probability 0.8 are right 8 times in 10. Below it the probabilities are too high, "
        f"above it too low. {words}Best candidate of each account, given that it has a counterpart."
    )
    columns = ("pairs of", "predicted", "right", "pairs")
    return Figure("reliability", "Are the probabilities right?", caption, chart, tuple(legend), columns, rows)


def _right_and_wrong(facts: Facts) -> Figure:
    # Test pairs are more, and no part of the fit used them: where there are any, they are shown.
    counts = facts.test["histogram"] if facts.test else facts.validation.histogram
    source = "test pairs" if facts.test else "validation anchors"
    right, wrong = counts["right"], counts["wrong"]
    bins = len(right)
    words = f"Best candidates of {source}: {sum(right):,} right, {sum(wrong):,} wrong."
    labels = Labels(
        "Do the probabilities separate right from wrong?",
        words,
        "predicted probability",
        "pairs: right above, wrong below (square-root scale)",
    )
    rows = tuple(
        (f"{i / bins:.2f} to {(i + 1) / bins:.2f}", f"{a:,}", f"{b:,}")
        for i, (a, b) in enumerate(zip(right, wrong, strict=True))
    )
    chart = charts.mirrored_histogram(labels, right, wrong)
    caption = f"{words} The further right pairs are to the right and wrong ones to the left, the better."
    legend = (Key("right", "good"), Key("wrong", "bad"))
    return Figure("histogram", labels.title, caption, chart, legend, ("probability", "right", "wrong"), rows)


def _hits(metrics: Mapping[str, Any]) -> Figure:
    ways = {"left to right": metrics["left_to_right"], "right to left": metrics["right_to_left"]}
    first = ways["left to right"]
    ranks = sorted(int(name.removeprefix("hits")) for name in first if name.startswith("hits"))
    series = [
        charts.Series(way, [shares[f"hits{k}"] for k in ranks], way.partition(" ")[0]) for way, shares in ways.items()
    ]
    mean = ", ".join(f"{shares['mrr']:.3f} {way}" for way, shares in ways.items())
    words = (
        f"{metrics['test_pairs']:,} test pairs, all accounts of the other network as candidates. "
        f"Mean reciprocal rank {mean}."
    )
    labels = Labels(
        "Is the true partner among the first k?", words, "first k candidates (Hits@k)", "share of test pairs"
    )
    rows = [(f"Hits@{k}", *(percent(shares[f"hits{k}"]) for shares in ways.values())) for k in ranks]
    rows.append(("MRR", *(f"{shares['mrr']:.3f}" for shares in ways.values())))
    chart = charts.grouped_bars(labels, [str(k) for k in ranks], series)
    legend = tuple(Key(one.name, one.colour) for one in series)
    return Figure("hits", labels.title, words, chart, legend, ("", *ways), tuple(rows))


class _Group(NamedTuple):
    """One bar: its label, and how many of each kind."""

    label: str
    counts: Sequence[int]


def _stacked(name: str, labels: Labels, colours: Mapping[str, str], groups: Sequence[_Group]) -> Figure:
    """Each group cut into kinds, by name and colour; counts are in the order of the colours."""
    series = [
        charts.Series(kind, [group.counts[i] for group in groups], colour)
        for i, (kind, colour) in enumerate(colours.items())
    ]
    chart = charts.stacked_shares(labels, [group.label for group in groups], series)
    rows = tuple((group.label, *(f"{n:,}" for n in group.counts)) for group in groups)
    legend = tuple(Key(kind, colour) for kind, colour in colours.items())
    return Figure(name, labels.title, labels.description, chart, legend, (labels.x, *colours), rows)


def _degrees(row: Mapping[str, Any]) -> str:
    low, high = row["from"], row["to"]
    return f"{low}+" if high is None else f"{low}" if low == high else f"{low}–{high}"


def _outcomes_by_degree(test: Mapping[str, Any], side: str) -> Figure:
    labels = Labels(
        f"Outcome of the test pairs, by degree of the {side} account",
        "Accounts with few neighbours leave little evidence. The number below a bar counts its test pairs.",
        f"neighbours of the {side} account",
        "share of test pairs",
    )
    colours = {word: _OUTCOME_COLOURS[word] for word in test["outcomes"]}
    groups = [_Group(_degrees(row), row["counts"]) for row in test["degree"][side]]
    return _stacked(f"degree-{side}", labels, colours, groups)


def _outcomes_by_community(test: Mapping[str, Any]) -> Figure:
    names = ["rest" if row["others"] else str(row["place"]) for row in test["communities"]]
    sizes = ", ".join(f"{name}: {row['accounts']:,}" for name, row in zip(names, test["communities"], strict=True))
    labels = Labels(
        "Outcome of the test pairs, by community",
        f"Communities of the left network (label propagation), the largest first; accounts in each: {sizes}.",
        "community",
        "share of test pairs",
    )
    colours = {word: _OUTCOME_COLOURS[word] for word in test["outcomes"]}
    groups = [_Group(name, row["counts"]) for name, row in zip(names, test["communities"], strict=True)]
    return _stacked("communities", labels, colours, groups)


def _decisions_by_degree(facts: Facts) -> Figure:
    labels = Labels(
        "Decisions by degree",
        "All left accounts without a known partner. The number below a bar counts its accounts.",
        "neighbours of the left account",
        "share of accounts",
    )
    groups = [
        _Group(_degrees(row), [row["counts"][DECISIONS.index(word)] for word in _DECISION_COLOURS])
        for row in facts.decisions_by_degree
    ]
    return _stacked("decisions", labels, _DECISION_COLOURS, groups)


def _training(quantity: str, curves: Mapping[str, Sequence[float]]) -> Figure:
    """One quantity by step, such as the loss of each network, thinned to what can be seen."""
    length = max(len(values) for values in curves.values())
    steps = list(range(0, length, max(1, length // 200)))
    colours = dict(zip(curves, ("precision", "recall", "third", "good"), strict=False))
    lines = [
        charts.Line(name, [curves[name][i] if i < len(curves[name]) else None for i in steps], colour)
        for name, colour in colours.items()
    ]
    last = ", ".join(f"{name} {values[-1]:.4g}" for name, values in curves.items() if values)
    labels = Labels(f"Training: {quantity}", f"At the last step: {last}.", "step", quantity)
    chart = charts.line_chart(labels, steps, lines, round_ticks(length))
    rows = tuple(
        (str(i), *(f"{values[i]:.4g}" if i < len(values) else "" for values in curves.values()))
        for i in steps[:: max(1, len(steps) // 20)]
    )
    legend = tuple(Key(name, colour, "line") for name, colour in colours.items())
    return Figure(f"training-{quantity}", labels.title, labels.description, chart, legend, ("step", *curves), rows)


def _levels(levels: Mapping[str, Sequence[float]]) -> Figure:
    """How much each level of MGCN counts: the share of its output that is passed on, the rest being its input."""
    groups = ("simple level", "hypergraph level")
    labels = Labels(
        "Weights of the levels",
        "The share of each level's output that is passed on, over all accounts; the rest is its input.",
        "level",
        "share passed on",
    )
    series = [charts.Series(side, list(shares), side) for side, shares in levels.items()]
    chart = charts.grouped_bars(labels, groups, series)
    rows = tuple((group, *(f"{shares[i]:.3f}" for shares in levels.values())) for i, group in enumerate(groups))
    legend = tuple(Key(side, side) for side in levels)
    return Figure("training-levels", labels.title, labels.description, chart, legend, ("level", *levels), rows)


def _parts(parts: Mapping[str, Any]) -> Figure:
    """`{"left": [sizes], "right": [sizes]}`, the largest 40 of each side."""
    sides = {side: sorted(parts.get(side, ()), reverse=True)[:40] for side in ("left", "right")}
    most = max(len(sizes) for sizes in sides.values())
    groups = [str(i + 1) for i in range(most)]
    series = [
        charts.Series(side, [sizes[i] if i < len(sizes) else None for i in range(most)], side)
        for side, sizes in sides.items()
    ]
    counted = "; ".join(f"{side}: {len(parts.get(side, ())):,} parts{_worst_fit(parts, side)}" for side in sides)
    words = ". ".join((f"Parts into which each network was cut for training. {counted}", *parts.get("notes", ())))
    labels = Labels("Sizes of the parts", words, "part, the largest first", "accounts")
    chart = charts.grouped_bars(labels, groups, series, shares=False)
    rows = tuple((group, *(str(one.values[i] or "") for one in series)) for i, group in enumerate(groups))
    legend = tuple(Key(side, side) for side in sides)
    return Figure("parts", labels.title, words, chart, legend, ("part", "left", "right"), rows)


def _worst_fit(parts: Mapping[str, Any], side: str) -> str:
    """The largest distance between a projected part and the others (Eq. 12): 0 is an exact fit, 1 none."""
    residuals = parts.get("residuals", {}).get(side, ())
    return f", largest misfit {max(residuals):.2f} (0: exact, 1: none)" if len(residuals) > 1 else ""


def _seconds(facts: Facts) -> Figure:
    every = [(stage["name"], float(stage["cpu_seconds"])) for stage in facts.stages]
    total = sum(value for _, value in every)
    # A row for each stage that hardly took any time would hide those that did.
    rows = [(f"{name}, {value / total:.0%}", value) for name, value in every if total and value >= _LITTLE * total]
    few = [value for _, value in every if not total or value < _LITTLE * total]
    if few:
        rows.append((f"{len(few)} other stages together", sum(few)))
    caption = f"{total:,.1f} CPU seconds in all stages, without reading the input."
    chart = charts.horizontal_bars(Labels("Time by stage", caption), rows, "s", "match", 2)
    table = tuple((name, f"{value:,.2f}") for name, value in every)
    return Figure("seconds", "Time by stage", caption, chart, (), ("stage", "CPU seconds"), table)


def _memory(facts: Facts) -> Figure:
    every = [(stage["name"], float(stage["peak_mb"])) for stage in facts.stages]
    before = [0.0, *(value for _, value in every)]
    rows = [row for row, peak in zip(every, before, strict=False) if row[1] >= (1 + _LITTLE) * peak]
    caption = "Largest resident memory of the process up to the end of each stage that raised it."
    chart = charts.horizontal_bars(Labels("Memory by stage", caption), rows, "MB", "right", 0)
    table = tuple((stage["name"], f"{stage['peak_mb']:,.0f}", f"{stage['bytes']:,}") for stage in facts.stages)
    return Figure("memory", "Memory by stage", caption, chart, (), ("stage", "peak MB", "bytes written"), table)
