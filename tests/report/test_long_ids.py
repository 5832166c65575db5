"""Ids of any length and direction: tables keep their shape, and nothing is lost."""

from __future__ import annotations

import pytest

from kedge.report.markup import brief_of, name_of


def test_a_short_id_is_whole() -> None:
    assert brief_of("alice") == name_of("alice")


@pytest.mark.parametrize("id_", ["x" * 150 + "end", "سلام" * 50, "a b " * 50 + "z"])
def test_a_long_id_keeps_its_ends_and_its_whole_as_a_title(id_: str) -> None:
    shown = str(brief_of(id_))
    assert f'title="{id_}"' in shown
    text = shown.partition(">")[2]
    assert id_[-10:] in text
    assert id_[:10] in text
    assert len(text) < 120


def test_what_is_hidden_in_a_long_id_is_spelled() -> None:
    shown = str(brief_of("a" * 30 + "\u202e" + "b" * 60))
    assert "\u202e" not in shown
    assert "[U+202E]" in shown


def test_a_hostile_id_stays_text() -> None:
    shown = str(brief_of('"><script>alert(1)</script>' * 5))
    assert "<script" not in shown
