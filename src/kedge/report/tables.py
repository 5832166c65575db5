"""Figures as small tables: the same rows on a terminal and in a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kedge.context import Shown, printable
from kedge.evaluation import metrics_shown
from kedge.report.markup import Markup, join, name_of, tag

_LONGEST: Final = 60  # letters of a cell in a notebook; the title of the cell has all of it
_NUMBER: Final = re.compile(r"[-+–−]?[\d.,]*(?:e-?\d+)?%?(?: ± [\d.,]+)?")
_CELL: Final = "text-align:{};padding:2px 10px;max-width:28em;overflow-wrap:anywhere"


def table_html(table: Shown, more: str = "") -> Markup:
    """The table for a notebook: escaped, long cells cut with the whole of them as their title; `more` stands below."""

    numbers = [all(_NUMBER.fullmatch(row[place]) for row in table.rows) for place in range(len(table.columns))]

    def cell(kind: str, place: int, text: str) -> Markup:
        long = len(text) > _LONGEST
        shown = name_of(text[: _LONGEST - 1] + "…" if long else text)
        side = "right" if place >= table.left and numbers[place] else "left"
        scope = "col" if kind == "th" else None
        title = printable(text) if long else None
        return tag(kind, shown, style=_CELL.format(side), title=title, scope=scope)

    head = tag("tr", *(cell("th", place, name) for place, name in enumerate(table.columns)))
    body = [tag("tr", *(cell("td", place, text) for place, text in enumerate(row))) for row in table.rows]
    return join(
        tag(
            "table",
            tag("caption", table.title, style="text-align:left;font-weight:600;padding:4px 10px"),
            tag("thead", head, style="border-bottom:1px solid") if any(table.columns) else None,
            tag("tbody", *body),
            style="border-collapse:collapse;margin:6px 0",
        ),
        tag("p", more, style="margin:2px 10px;opacity:.75") if more else None,
    )


def paragraph_html(text: str) -> Markup:
    """A line of text for a notebook."""
    return tag("p", text, style="margin:2px 10px")


def link_html(address: str, text: str) -> Markup:
    """A link for a notebook."""
    return tag("p", tag("a", text, href=address, target="_blank", rel="noopener"), style="margin:2px 10px")


def progress_html(stage: str, share: float | None, detail: str, notes: Sequence[str]) -> Markup:
    """A bar for a notebook, moving where no share is known, with the notes below."""
    bar = tag("progress", max="1", value=None if share is None else f"{share:.3f}", style="width:16em")
    percent = "" if share is None else f" {share:.0%}"
    return join(
        tag("div", bar, f" {stage}{percent} {detail}".rstrip(), style="margin:2px 10px"),
        *(paragraph_html(note) for note in notes),
    )


def metric_tables(metrics: Mapping[str, Any]) -> list[Shown]:
    """Ranking by direction, then decisions and calibration; nothing without held-out pairs."""
    if not metrics["test_pairs"]:
        return []

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    forth, back = metrics["left_to_right"], metrics["right_to_left"]
    by_direction = [metric for metric in metrics_shown("evaluate") if metric.name in forth]
    others = [metric for metric in metrics_shown("evaluate") if metric.name not in forth]
    return [
        Shown(
            f"On {metrics['test_pairs']:,} held-out pairs",
            ("", "left to right", "right to left", "mean"),
            [(m.label, shown(forth[m.name]), shown(back[m.name]), shown(metrics[m.name])) for m in by_direction],
        ),
        # A run of an earlier version may lack some of them.
        Shown("", ("", "", ""), [(m.label, m.help, shown(metrics.get(m.name))) for m in others], left=2),
    ]


def check_tables(facts: Mapping[str, Any]) -> list[Shown]:
    """Networks, anchors and profiles, as `kedge check` shows them."""
    tables = [_networks(facts)]
    if facts["anchors"] is not None:
        tables.append(_anchors(facts["anchors"]))
    if facts.get("fields"):
        tables.append(_fields(facts["fields"]))
    return tables


def cost_sentence(facts: Mapping[str, Any]) -> str:
    """What matching will take."""
    cost = f"{facts['cpu_seconds']:,.0f} CPU seconds and {facts['peak_mb']:,.0f} MB"
    unknown = "; embeddings add to that, depending on the anchors" if facts["anchors"] is None else ""
    return f"`kedge match` will take roughly {cost}{unknown}."


def _networks(facts: Mapping[str, Any]) -> Shown:
    def row(name: str, key: str, form: str = ",") -> tuple[str, str, str]:
        return name, format(facts["left"][key], form), format(facts["right"][key], form)

    def dropped(name: str, key: str) -> tuple[str, str, str]:
        return name, format(facts["left"]["read"][key], ","), format(facts["right"]["read"][key], ",")

    return Shown(
        "Networks",
        ("", "left", "right"),
        [
            row("accounts", "accounts"),
            row("edges", "edges"),
            row("mean degree", "degree_mean", ".1f"),
            row("median degree", "degree_median", ".0f"),
            row("largest degree", "degree_max"),
            row("accounts without edges", "isolated"),
            row("components", "components"),
            row("largest component", "largest_component"),
            ("header", *("yes" if facts[side]["read"]["header"] else "no" for side in ("left", "right"))),
            dropped("rows read", "rows"),
            dropped("dropped: comments", "comments"),
            dropped("dropped: an account with itself", "self_loops"),
            dropped("dropped: edge listed again or reversed", "repeated"),
            dropped("dropped: weight zero", "zero_weights"),
            dropped("ids trimmed of spaces", "trimmed_ids"),
        ],
    )


def _anchors(facts: Mapping[str, Any]) -> Shown:
    listed = facts["listed"]
    overlap = "unknown" if facts["overlap"] is None else f"{facts['overlap']:.1%}"
    return Shown(
        "Anchors",
        ("", ""),
        [
            ("listed", f"{listed['rows']:,}"),
            ("found", f"{listed['found']:,}"),
            ("unknown (in no edge)", f"{listed['unknown']:,}"),
            ("repeated", f"{listed['repeated']:,}"),
            ("contradictory", f"{listed['contradictory']:,}"),
            ("share of left accounts", f"{facts['left_share']:.1%}"),
            ("share of right accounts", f"{facts['right_share']:.1%}"),
            ("edges among them: left", f"{facts['edges_left']:,}"),
            ("edges among them: right", f"{facts['edges_right']:,}"),
            ("edges among them: in both", f"{facts['edges_both']:,}"),
            ("edge overlap (both / either)", overlap),
        ],
    )


def _fields(fields: Sequence[Mapping[str, Any]]) -> Shown:
    def share(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.1%}"

    return Shown(
        "Profiles",
        ("field", "kind", "filled left", "filled right", "distinct", "agreement on anchors", "by chance"),
        [
            (
                f["name"] if f["name"] == f["right"] else f"{f['name']} ~ {f['right']}",
                f["kind"],
                share(f["filled_left"]),
                share(f["filled_right"]),
                f"{f['distinct']:,}",
                share(f["agreement"]),
                share(f["chance"]),
            )
            for f in fields
        ],
    )
