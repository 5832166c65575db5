"""The linkage card: inputs, settings, versions, intended use and limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedge.report.blocks import data_table, definitions
from kedge.report.facts import Facts
from kedge.report.markup import Child, Markup, join, name_of, tag

_MAY = (
    "Make a shortlist that a person checks, above all the pairs marked for review.",
    "Count and compare on average: how many accounts two networks share, how well a method does.",
    "Link networks that you are allowed to store and link: by consent, contract, law or an ethics board.",
)
_MUST_NOT = (
    "Decide about a person on this basis alone. A match is a probability, not an identity.",
    "Unmask people who keep two accounts apart on purpose.",
    "Draw conclusions about accounts, times or platforms that are not in these files.",
)


def linkage_card(facts: Facts, manifest: Mapping[str, Any]) -> Markup:
    """The whole card."""
    limits = _limits(facts, "left profiles" in manifest["inputs"])
    lists = (("Use it to", _MAY), ("Do not use it to", _MUST_NOT), ("Limits", limits))
    uses = [tag("div", tag("strong", title), tag("ul", *(tag("li", line) for line in lines))) for title, lines in lists]
    card = tag("div", tag("h3", "Intended use"), tag("div", *uses, class_="uses"), class_="card")
    facts_of_run = tag("div", _settings(facts, manifest), _made_by(manifest), class_="stack")
    return join(
        tag("div", _inputs(facts, manifest), facts_of_run, class_="two"), tag("div", card, class_="stack after")
    )


def _limits(facts: Facts, profiles: bool) -> tuple[str, ...]:
    anchors = facts.validation.pairs
    return (
        f"Probabilities are calibrated on {anchors:,} validation anchors. Where other accounts differ from them "
        "(newer, less active, fewer neighbours), the probabilities are off."
        if anchors
        else "No anchor could be used for validation, so the probabilities are a guess.",
        "Validation anchors all have a counterpart. Precision measured on them does not count matches of accounts that "
        "have none; the mean probability of the matches does.",
        f"{'' if profiles else 'Only the structure of the networks is used. '}Two accounts with the same neighbours"
        f"{' and the same profile' if profiles else ''} cannot be distinguished.",
        "This page contains account ids: treat it as personal data.",
    )


def _bytes(size: int) -> str:
    for unit, word in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {word}"
    return f"{size} bytes"


def _inputs(facts: Facts, manifest: Mapping[str, Any]) -> Markup:
    sizes = {
        "left": f"{facts.accounts['left']:,} accounts, {facts.edges['left']:,} edges",
        "right": f"{facts.accounts['right']:,} accounts, {facts.edges['right']:,} edges",
        "anchors": f"{facts.anchors:,} known pairs",
    }
    blocks: list[tuple[str, Child]] = []
    for role, entry in manifest["inputs"].items():
        size = sizes.get(role)
        words = f"{size + '; ' if size else ''}{_bytes(int(entry['bytes']))}"
        hashed = tag("div", f"SHA-256 {entry['sha256']}", class_="hash mono")
        blocks.append((str(role), join(tag("strong", name_of(str(entry["name"]))), tag("div", words), hashed)))
    if facts.test is not None:
        unknown = facts.test["unknown"]
        words = f"{facts.test['test_pairs']:,} held-out pairs, for evaluation only"
        blocks.append(("test", f"{words}; {unknown:,} of them name an account without edges" if unknown else words))
    return tag("div", tag("h3", "Inputs"), definitions(blocks), class_="card")


def _settings(facts: Facts, manifest: Mapping[str, Any]) -> Markup:
    method = str(manifest["config"].get("method"))
    if facts.settings:

        def shown(value: object) -> Markup:
            return name_of("not set" if value is None else str(value))

        rows = [(tag("code", row["name"]), shown(row["here"]), shown(row["default"])) for row in facts.settings]
        table = tag("div", data_table(("setting", "this run", "default"), rows, "Settings that differ"), class_="wide")
    else:
        table = tag("p", "All settings are the defaults.", class_="soft")
    lines: list[tuple[str, Child]] = [("method", method), ("seed", str(manifest.get("seed")))]
    return tag("div", tag("h3", "Settings"), definitions(lines), table, class_="card")


def _made_by(manifest: Mapping[str, Any]) -> Markup:
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    lines: list[tuple[str, Child]] = [
        ("run", tag("code", str(manifest["run_id"]))),
        ("created", str(manifest["created"]).replace("T", " ").replace("Z", " UTC")),
        ("versions", versions),
    ]
    return tag("div", tag("h3", "Provenance"), definitions(lines), class_="card")
