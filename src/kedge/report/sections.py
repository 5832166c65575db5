"""The sections of the page, from headline to tables; the linkage card is in `card`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from kedge.answers import audit_estimate, audit_sentence
from kedge.decide.explanation import Explanation
from kedge.report.blocks import (
    Figure,
    data_table,
    definitions,
    figure_card,
    legend,
    logo,
    meter,
    number_table,
    percent,
    share_bar,
    threshold_text,
)
from kedge.report.explained import explanation_card
from kedge.report.facts import Curve, Facts, Row, Suspect
from kedge.report.markup import Child, Markup, brief_of, join, name_of, tag

_SUSPECTS = 50  # rows of their table


def section(identity: str, title: str, lead: str | None, *children: Child) -> Markup:
    """A titled section that the navigation can point at."""
    words = tag("p", lead, class_="lead-in") if lead else None
    return tag("section", tag("h2", title, id=identity), words, *children, aria_labelledby=identity)


def figure_grid(figures: Sequence[Figure]) -> Markup:
    """Figures two by two."""
    return tag("div", *map(figure_card, figures), class_="two")


def top(facts: Facts, manifest: Mapping[str, Any], links: Sequence[tuple[str, str]]) -> Markup:
    """Name, inputs, a summary in a sentence or two, warnings, and links to the sections."""
    names = [name_of(str(manifest["inputs"][side]["name"])) for side in ("left", "right")]
    title = tag("h1", names[0], tag("span", " ↔ ", class_="with"), names[1])
    made, method = str(manifest["created"]).partition("T")[0], manifest["config"].get("method")
    brand = tag("div", logo(), tag("span", "kedge"), tag("span", "linkage report", class_="what"), class_="brand")
    warnings = [tag("p", note[:1].upper() + note[1:] + ".") for note in facts.notes]
    return tag(
        "header",
        brand,
        title,
        tag("div", "run ", tag("code", facts.run_id), f" · {made} · method {method}", class_="under"),
        tag("p", _summary(facts), class_="lead"),
        tag("div", *warnings, class_="warn", role="note") if warnings else None,
        tag("nav", *(tag("a", words, href=f"#{identity}") for identity, words in links), aria_label="Sections"),
    )


def _summary(facts: Facts) -> str:
    matches, at = facts.decisions["match"], facts.thresholds.index(facts.threshold)
    if matches == 0:
        return "No pair reached the threshold for a match. The pairs to review are the place to start."
    mean = percent(facts.expected_right[at] / max(facts.matches[at], 1))
    text = f"{matches:,} matches, expected to be right {mean} of the time."
    for curve, pairs in (
        (facts.validation_curve, "validation anchors (known pairs, scored as if they were unknown)"),
        (facts.test_curve, "test pairs"),
    ):
        if curve is not None and curve.made[at]:
            right = f"{curve.right[at]:,} of these ({percent(curve.precision[at])})"
            text += f" Of {curve.pairs:,} {pairs}, {curve.made[at]:,} became a match; {right} are right."
    if facts.audit is not None and facts.audit["precision"] is not None:
        text += f" Audit: {audit_estimate(facts.audit)}."
    if facts.decisions["review"] > 2 * matches:
        text += " Most pairs are left to review: see below what a lower threshold would give."
    return text


def headline(facts: Facts) -> Markup:
    """What was decided, at a glance."""
    at, lowest = threshold_text(facts.threshold), threshold_text(min(facts.review_from, facts.threshold))
    parts = (
        ("match", "match", "Matches", f"probability {at} or more"),
        ("review", "review", "To review", f"probability {lowest} to {at}"),
        ("no match", "none", "No match", "no candidate, or a lower probability"),
    )
    cards = [
        tag(
            "div",
            tag("div", name, class_="name"),
            tag("div", f"{facts.decisions[word]:,}", class_="big"),
            tag("div", small, class_="small"),
            class_=f"card head {colour}",
        )
        for word, colour, name, small in parts
    ]
    free = sum(facts.decisions.values())
    bar = share_bar(
        [(name, colour, facts.decisions[word]) for word, colour, name, _ in parts],
        ", ".join(f"{name}: {facts.decisions[word]:,}" for word, _, name, _ in parts),
    )
    counts: list[tuple[str, Child]] = [
        ("left accounts", f"{facts.accounts['left']:,}"),
        ("right accounts", f"{facts.accounts['right']:,}"),
        ("known anchors", f"{facts.anchors:,}"),
        ("left accounts without known partner", f"{free:,}"),
    ]
    if facts.test is not None:
        counts.append(("test pairs", f"{facts.test['test_pairs']:,}"))
    return join(tag("div", *cards, class_="heads"), bar, definitions(counts, "facts"))


def _live(name: str, words: str) -> Markup:
    """A number that the script updates when the threshold moves; without script it is the run's."""
    return tag("span", words, data_live=name)


def _live_row(chip: str, name: str, value: Child, small: Child = None, rule: bool = False) -> Markup:
    sign = tag("span", class_=f"chip {chip}", aria_hidden="true") if chip else None
    return tag(
        "tr",
        tag("th", sign, name, scope="row"),
        tag("td", value, tag("small", small) if small else None),
        class_="rule" if rule else None,
    )


def _curve_rows(curve: Curve, key: str, at: int, words: str) -> list[Markup]:
    low, high = curve.low[at], curve.high[at]
    bounds = "no match made" if low is None else f"{percent(low)} to {percent(high)}"
    return [
        _live_row(
            "precision",
            f"Precision, {words}",
            _live(f"{key}.precision", percent(curve.precision[at])),
            join("95%: ", _live(f"{key}.interval", bounds)),
            rule=True,
        ),
        _live_row(
            "recall",
            f"Recall, {words}",
            _live(f"{key}.recall", percent(curve.recall[at])),
            _live(f"{key}.of", f"{curve.right[at]:,} of {curve.pairs:,} true pairs"),
        ),
    ]


def explorer(facts: Facts, curves: Figure, assigned: Figure) -> Markup:
    """The slider, two charts of all thresholds, and the numbers at the chosen one."""
    at, threshold = facts.thresholds.index(facts.threshold), threshold_text(facts.threshold)
    slider = tag(
        "input",
        type="range",
        id="slider",
        min="0",
        max=str(len(facts.thresholds) - 1),
        step="1",
        value=str(at),
        autocomplete="off",
        aria_label="Threshold",
        aria_valuetext=f"threshold {threshold}",
    )
    charts = [
        tag("div", tag("h3", curves.title), tag("p", curves.caption, class_="under"), legend(curves), curves.chart),
        tag("div", slider, class_="slide", hidden=True, data_script=True),
        tag("div", legend(assigned), assigned.chart),
        number_table(curves),
    ]
    matches, expected = facts.matches[at], facts.expected_right[at]
    rest = sum(facts.decisions.values()) - matches - facts.review[at]
    rows = [
        _live_row("match", "Matches", _live("matches", f"{matches:,}")),
        _live_row("review", "To review", _live("review", f"{facts.review[at]:,}")),
        _live_row("none", "No match", _live("rest", f"{rest:,}")),
        _live_row(
            "",
            "Expected number of right matches",
            _live("expected", f"{expected:,.0f}"),
            join("mean probability ", _live("mean", percent(expected / matches if matches else None))),
            rule=True,
        ),
        *_curve_rows(facts.validation_curve, "validation_curve", at, "validation anchors"),
    ]
    if facts.test_curve is not None:
        rows += _curve_rows(facts.test_curve, "test_curve", at, "test pairs")
    state = {"disabled": True, "hidden": True, "data_script": True}
    reset = tag("button", f"reset to {threshold}", type="button", id="back", **state)
    panel = tag(
        "div",
        tag("h3", "At threshold"),
        tag("div", tag("span", _live("threshold", threshold), class_="value"), reset, class_="at"),
        tag("table", tag("tbody", *rows), class_="live", aria_live="polite", aria_label="Numbers at this threshold"),
        tag(
            "p",
            "To use it, where the directory of the run is: ",
            tag("code", f"kedge decide {shlex.quote(facts.name)} --threshold ", _live("threshold", threshold)),
            ". It takes seconds, and export and review follow.",
            class_="under",
        ),
        class_="panel",
    )
    return tag("div", tag("div", *charts, panel, class_="explorer"), class_="card after")


def audit_card(facts: Facts) -> Markup:
    """What the audit shows of the matches when its sample was drawn, and of those decided with its answers."""
    audit = facts.audit
    if audit is None:
        return join()

    def row(name: str, part: Mapping[str, Any]) -> tuple[Child, ...]:
        exact = "exact: all were audited" if part["census"] else f"{percent(part['low'])} to {percent(part['high'])}"
        bounds = "–" if part["precision"] is None else exact
        return (
            name,
            f"{part['matches']:,}",
            f"{part['audited']:,}",
            f"{part['right']:,}",
            percent(part["precision"]),
            bounds,
        )

    rows = [] if audit["drawn"] is None else [row("when the sample was drawn", audit["drawn"])]
    columns = ("matches", "number", "audited", "right", "precision", f"{audit['confidence']:.0%} interval")
    table = data_table(
        columns, [*rows, row("decided with its answers", audit)], "Precision of the matches by the audit"
    )
    lines: list[tuple[str, Child]] = [
        ("answers", f"{audit['yes']:,} yes, {audit['no']:,} no, {audit['unsure']:,} unsure, {audit['open']:,} open"),
    ]
    if "slope" in audit:
        formula = f"log-odds × {audit['slope']:.2f} {audit['shift']:+.2f}, in the probability of each candidate"
        single = (
            f"{audit['added']:,} matches more by a yes below the threshold, {audit['removed']:,} fewer by a no above it"
        )
        lines += [("correction", formula), ("single answers", single)]
    sentence = tag("p", audit_sentence(audit))
    return tag(
        "div", sentence, tag("div", table, class_="wide"), tag("div", definitions(lines), class_="after"), class_="card"
    )


def counterpart_card(facts: Facts) -> Markup:
    """How matches hang on the share of accounts with a counterpart, which is estimated."""
    if not facts.counterparts:
        return join()
    used, *others = facts.counterparts

    def row(name: str, part: Mapping[str, Any]) -> tuple[Child, ...]:
        return name, percent(part["share"]), f"{part['matches']:,}", percent(part["expected_precision"])

    named = [row("used here", used), *(row("if it were", part) for part in others)]
    table = data_table(("", "share", "matches", "expected precision"), named, "Matches by the share with a counterpart")
    command = tag("code", f"kedge decide {shlex.quote(facts.name)} --counterparts SHARE")
    words = tag("p", "If you know the share, or a range of it, decide with it: ", command, class_="under after")
    return tag("div", tag("div", table, class_="wide"), words, class_="card")


def _pair_card(title: str, colour: str, rows: Sequence[Row], of: int, empty: str) -> Markup:
    if not rows:
        return tag("div", tag("h3", title), tag("p", empty, class_="under"), class_="card pairs-table")
    cells: list[tuple[Child, ...]] = [
        (
            tag("span", brief_of(row.left), class_="id"),
            tag("span", brief_of(row.right), class_="id"),
            join(meter(row.probability, colour), f"{row.probability:.3f}"),
            f"{row.given_counterpart:.3f}",
            f"{row.counterpart:.3f}",
            f"{row.margin:,.2f}",
            f"{row.left_degree:,} / {row.right_degree:,}",
        )
        for row in rows
    ]
    columns = (
        "left",
        "right",
        "probability",
        "= right, if a counterpart",
        "× has a counterpart",
        "margin",
        "neighbours",
    )
    table = data_table(columns, cells, title)
    words = tag("p", f"{len(rows):,} of {of:,}.", class_="under")
    return tag("div", tag("h3", title), words, tag("div", table, class_="wide"), class_="card pairs-table")


def _suspect_row(row: Suspect) -> tuple[Child, ...]:
    def shown(name: str | None) -> Child:
        return "-" if name is None else tag("span", brief_of(name), class_="id")

    return (shown(row.left), shown(row.right), f"{row.wrong:.2f}", shown(row.better_right), shown(row.better_left))


def suspect_card(facts: Facts) -> Markup:
    """The anchors that the rest of the evidence contradicts, ids as text."""
    shown = facts.suspects[:_SUSPECTS]
    heads = ("left", "right", "probability to be wrong", "better for left", "better for right")
    table = data_table(heads, [_suspect_row(row) for row in shown], "Doubtful anchors")
    words = tag("p", f"{len(shown):,} of {len(facts.suspects):,}; {facts.examined:,} examined.", class_="under")
    return tag("div", words, tag("div", table, class_="wide"), class_="card pairs-table")


def pair_tables(facts: Facts, explained: Sequence[tuple[str, Explanation]]) -> Markup:
    """The most probable matches and pairs to review, ids as text, and the first of each explained in three steps."""
    matches, review = facts.decisions["match"], facts.decisions["review"]
    none = "No pair was decided to be a match.", "No pair is waiting for review."
    return tag(
        "div",
        _pair_card("Most probable matches", "match", facts.surest, matches, none[0]),
        _pair_card("Most probable pairs to review", "review", facts.to_review, review, none[1]),
        tag("div", *(explanation_card(title, found) for title, found in explained), class_="two")
        if explained
        else None,
        class_="stack",
    )
