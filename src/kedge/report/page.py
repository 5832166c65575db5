"""The page: sections in their order, one style sheet, one script, and the numbers as JSON.

The content security policy names the style and the script by their hash: nothing else can run.
"""

from __future__ import annotations

import base64
import hashlib

from kedge.report.blocks import Figure
from kedge.report.card import linkage_card
from kedge.report.examples import explain_first
from kedge.report.facts import Facts, gather_facts
from kedge.report.fields import field_card
from kedge.report.figures import draw_figures
from kedge.report.markup import Markup, data_block, join, raw_style_or_script, static, tag
from kedge.report.sections import (
    audit_card,
    counterpart_card,
    explorer,
    figure_grid,
    headline,
    pair_tables,
    section,
    suspect_card,
    top,
)
from kedge.store import Contents


def build_report(contents: Contents) -> str:
    """One self-contained HTML page; the same run gives the same bytes."""
    facts = gather_facts(contents)
    figures = draw_figures(facts)
    style = (
        static("light.css")
        # On paper, light: dark ink is not what a printer saves.
        + f"@media screen and (prefers-color-scheme: dark) {{\n{static('dark.css')}}}\n"
        + static("chart.css")
        + static("page.css")
    )
    script = static("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"kedge {contents.manifest['versions'].get('kedge', '')}".strip()),
        tag("title", f"kedge report {facts.run_id}"),
        tag("link", rel="icon", href="data:,"),
        raw_style_or_script("style", style),
    )
    body = tag(
        "body",
        *_body(contents, facts, figures),
        data_block("facts", {**facts.for_page(), "start": facts.thresholds.index(facts.threshold)}),
        raw_style_or_script("script", script),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="en").html + "\n"


def report_figures(contents: Contents) -> dict[str, Figure]:
    """The figures of the report by name."""
    return draw_figures(gather_facts(contents))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _body(contents: Contents, facts: Facts, figures: dict[str, Figure]) -> list[Markup]:
    def chosen(*starts: str) -> list[Figure]:
        return [figure for name, figure in figures.items() if name.startswith(starts)]

    tested = facts.test is not None
    parts = [
        (
            "threshold",
            "Choose a threshold",
            "Threshold",
            "A higher threshold gives fewer and more certain matches. Move the slider, or drag in a chart.",
            explorer(facts, figures["thresholds"], figures["assigned"]),
        ),
        (
            "trust",
            "How reliable are the probabilities?",
            "Reliability",
            None,
            figure_grid(chosen("reliability", "histogram")),
        ),
        (
            "counterparts",
            "How many accounts have a counterpart?",
            "Counterparts",
            "The share of left accounts without a known partner that have one is estimated. Matches depend on it: the "
            "more accounts have a counterpart, the surer each pair is.",
            counterpart_card(facts),
        ),
        (
            "audit",
            "Audit",
            "Audit",
            "People answered a random sample of the pairs: the share that is right holds for all, within the interval.",
            audit_card(facts),
        ),
        (
            "errors",
            "Where matches are right and where not" if tested else "Decisions",
            "Right and wrong" if tested else "Decisions",
            None,
            figure_grid(chosen("hits", "degree", "communities", "decisions")),
        ),
        (
            "pairs",
            "Pairs",
            "Pairs",
            "A probability is that of being right if the left account has a counterpart, times that of having one. "
            "Margin: lead of the score over the best other candidate. Neighbours: of the left and the right account.",
            pair_tables(facts, explain_first(contents, facts)),
        ),
        (
            "fields",
            "What profiles are worth",
            "Profiles",
            "Agreement: the mean similarity of anchors that both have a value, and of random pairs.",
            field_card(contents.fields) if contents.fields else join(),
        ),
        (
            "anchors",
            "Doubtful anchors",
            "Doubtful anchors",
            "Anchors that the rest of the evidence contradicts. Neither scores nor probabilities rest on them.",
            suspect_card(facts),
        ),
        ("training", "Training", "Training", None, figure_grid(chosen("training", "parts"))),
        ("cost", "Time and memory", "Cost", None, figure_grid(chosen("seconds", "memory"))),
        ("card", "Linkage card", "Linkage card", None, linkage_card(facts, contents.manifest)),
    ]
    absent = {
        "trust": not chosen("reliability"),
        "audit": facts.audit is None,
        "counterparts": not facts.counterparts,
        "fields": contents.fields is None or not contents.fields.fields,
        "anchors": not facts.suspects,
        "training": not chosen("training", "parts"),
    }
    parts = [part for part in parts if not absent.get(part[0])]
    footer = tag("footer", "Made by kedge from the files of the run alone. This page loads nothing and sends nothing.")
    return [
        top(facts, contents.manifest, [(identity, words) for identity, _, words, _, _ in parts]),
        tag("main", headline(facts), join(*(section(i, title, lead, inside) for i, title, _, lead, inside in parts))),
        footer,
    ]
