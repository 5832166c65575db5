"""A pair explained as a picture and as a card: the same numbers as in the text, and no name cut off."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.decide.explanation import Candidate, Competition, Explanation, Lead, Reason
from kedge.decide.steps import MOST, Name, as_dict, as_text
from kedge.report.explained import explanation_card, explanation_svg, wrap

LONG = "https://social.example.org/users/profile?id=" + "0123456789abcdef" * 8


def explanation(hits: int = 15, misses: int = 2, left: str = "anna", right: str = "anna_99") -> Explanation:
    return Explanation(
        left=left,
        right=right,
        verdict="review",
        prior=0.125,
        hits=tuple(Reason(f"a{i}.", f"b{i}.", 0.5, 1 / (i + 3)) for i in range(hits)),
        misses=tuple(Reason(None, f"m{i}.", 0.5, -0.1) for i in range(misses)),
        log_odds=0.125 + sum(1 / (i + 3) for i in range(hits)) - 0.1 * misses,
        similarity=None,
        score=3.0,
        probability=0.36,
        counterpart=0.9,
        rank=1,
        decision="review",
        competition=Competition((Lead("left", "ann", -0.25),), 0.4, 3, 0.1, 0.2),
        runner_up=Candidate(left, "ann", 3.25, 0.27, 0.3, "no match"),
        rival=None,
    )


def neighbours(words: str) -> int:
    """The neighbours that are named, and those that are summed up."""
    named = re.findall(r"(?:[ab]\d+\. = b\d+\.|the match of m\d+\.)", words)
    return len(named) + sum(map(int, re.findall(r"and (\d+) more", words)))


def text_of(markup: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:text|td|th|p|h\d)>", "\n", markup)))


@given(st.integers(0, 40), st.integers(0, 40))
def test_text_json_picture_and_card_have_the_same_neighbours(hits: int, misses: int) -> None:
    found = explanation(hits, misses)
    data = as_dict(found)
    counts = [
        neighbours(as_text(found)),
        len(data["hits"]) + len(data["misses"]),
        neighbours(text_of(explanation_svg(found))),
        neighbours(text_of(explanation_card("x", found).html)),
    ]
    assert counts == [hits + misses] * 4


def test_the_picture_has_one_bar_per_line_and_all_three_steps() -> None:
    svg = ElementTree.fromstring(explanation_svg(explanation(hits=15, misses=2)))
    bars = [one for one in svg.iter() if one.tag.endswith("rect")]
    # The prior, ten hits, the rest of them, two misses, the total; four shares; the white page.
    assert len(bars) == 1 + MOST + 1 + 2 + 1 + 4 + 1
    texts = ["".join(one.itertext()) for one in svg.iter() if one.tag.endswith("text")]
    assert [text[:9] for text in texts if re.match(r"\d\. ", text)] == ["1. Eviden", "2. Rivals", "3. Counte"]
    assert "0.400 × 0.900 = 0.360" in texts


def test_no_long_name_is_cut_off_and_nothing_is_wider_than_the_picture() -> None:
    found = explanation(left=LONG, right="דניאל_" + LONG)
    svg = ElementTree.fromstring(explanation_svg(found))
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    lines = [(one, "".join(one.itertext())) for one in svg.iter() if one.tag.endswith("text")]
    whole = "".join(text for _, text in lines).replace("\u2068", "").replace("\u2069", "")
    assert whole.count(LONG) >= 3, "both names in the title, and the right one among the rivals"
    for one, text in lines:
        letters = sum(unicodedata.category(c) != "Cf" for c in text)
        begin = float(one.attrib["x"]) - (7.3 * letters if one.attrib.get("text-anchor") == "end" else 0)
        assert begin >= 0
        assert begin + 7.3 * float(one.attrib["font-size"]) / 12 * letters * ("text-anchor" not in one.attrib) <= width
        assert float(one.attrib["y"]) < height


@given(st.lists(st.one_of(st.text("ab ", max_size=30), st.text(max_size=90).map(Name)), max_size=5), st.integers(4, 40))
def test_lines_are_as_wide_as_allowed_and_have_all_letters(words: list[str | Name], columns: int) -> None:
    lines = wrap(tuple(words), columns)
    kept = [c for line in lines for c in line if c not in " \u2068\u2069"]
    meant = as_plain(words)
    assert kept == [c for c in meant if c not in " \u2068\u2069"]
    for line in lines:
        shown = [c for c in line if c not in "\u2068\u2069"]
        assert len(shown) - sum(unicodedata.combining(c) > 0 for c in shown) <= columns


def as_plain(words: list[str | Name]) -> str:
    from kedge.decide.steps import plain

    return plain(tuple(words))


@pytest.mark.parametrize("name", ["</svg><script>alert(1)</script>", "a\x00b\x1b", "\ud800", "]]>", "&amp;"])
def test_a_hostile_name_is_text(name: str) -> None:
    svg = explanation_svg(replace(explanation(left=name, right=name), verdict=f"known to be {name}", notes=(name,)))
    root = ElementTree.fromstring(svg)
    assert not any(one.tag.endswith("script") for one in root.iter())
    assert explanation_card("x", explanation(left=name)).html.count("<script") == 0
