"""Both profiles in the review app: values side by side, marks, sums that hold, and what blind mode hides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from reviewing import Browser, open_log, small_run

from kedge.decide.explanation import FieldsOfRun
from kedge.profiles import FieldOfPair, KnownFields, fit_fields
from kedge.review.profiles import field_rows
from kedge.types import Profiles

HTML = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def known() -> Any:
    """A small run with profiles: `city` separates persons, `home` has addresses, `rare` is hardly given."""
    data, others = small_run()
    left, right = [f"c{i // 4}" for i in range(data.problem.left.n)], [""] * data.problem.right.n
    for u, v in [*data.problem.anchors.tolist(), *others.tolist()]:
        right[v] = left[u]
    tables = [
        Profiles(pa.table({"city": city, "home": [f"https://example.org/{HTML}/{c}" for c in city],
                           "rare": [None] * (len(city) - 1) + ["x"]}))
        for city in (left, right)
    ]  # fmt: skip
    problem = replace(data.problem, profiles=(tables[0], tables[1]))
    fitted = fit_fields(problem, data.config)
    return replace(data, fields=FieldsOfRun(KnownFields(*tables, fitted), True, False))


@pytest.fixture
def browser(known: Any, tmp_path: Path) -> Iterator[Browser]:
    log = open_log(tmp_path)
    yield Browser(known, log)
    log.close()


def test_a_pair_has_both_profiles_and_a_step_for_each_field(browser: Browser, known: Any) -> None:
    pair = browser.get("/api/next")["pair"]
    rows = {row["name"]: row for row in pair["profiles"]}
    assert set(rows) == {"city", "home"}, "a field that neither has is not shown"
    u, v = pair["left"]["account"], pair["right"]["account"]
    values = [known.fields.known.left.table["home"][u].as_py(), known.fields.known.right.table["home"][v].as_py()]
    assert ["".join(piece["text"] for piece in rows["home"][side]) for side in ("left", "right")] == values
    steps = pair["evidence"]["steps"]
    assert [step["name"] for step in steps if step["kind"] == "field"] == ["city", "home"]
    assert pair["evidence"]["total"] == pytest.approx(sum(step["weight"] for step in steps))


def test_blind_mode_shows_values_and_marks_but_not_what_kedge_makes_of_them(browser: Browser) -> None:
    seen = browser.get("/api/next")["pair"]
    place = {side: seen[side]["account"] for side in ("left", "right")}
    pair = browser.get("/api/pair", **place, blind=1)["pair"]
    assert pair["blind"]
    assert [row["left"] for row in pair["profiles"]] == [row["left"] for row in seen["profiles"]]
    assert all(row["similarity"] is None for row in pair["profiles"])
    fields = [step for step in pair["evidence"]["steps"] if step["kind"] == "field"]
    assert len(fields) == 2
    assert all(step["weight"] is None and step["similarity"] is None for step in fields)


@pytest.mark.parametrize(
    ("kind", "left", "right", "marked"),
    [
        ("handle", "Núria Dvořák", "dvorak, Nuria", [["Núria", "Dvořák"], ["dvorak", "Nuria"]]),
        ("handle", "nuria_dvorak96", "xx-nuriadv", [["nuria"], ["nuria"]]),
        ("text", "שלום עולם טוב", "עולם אחר", [["עולם"], ["עולם"]]),
        ("number", "1200", "1201", [[], []]),
    ],
)
def test_equal_parts_are_marked(kind: str, left: str, right: str, marked: list[list[str]]) -> None:
    (row,) = field_rows((FieldOfPair("f", kind, left, right, False, 0.5, 1.0),), False)
    sides = [row["left"] or [], row["right"] or []]
    assert [[piece["text"] for piece in side if piece["equal"]] for side in sides] == marked
    assert ["".join(piece["text"] for piece in side) for side in sides] == [left, right], "nothing is lost"


def test_a_value_of_one_side_alone_is_shown_without_marks() -> None:
    (row,) = field_rows((FieldOfPair("f", "text", HTML, None, False, None, 0.0),), False)
    assert row["left"] == [{"text": HTML, "equal": False}]
    assert row["right"] is None


def test_an_address_is_text_until_the_reviewer_opens_it() -> None:
    from importlib import resources

    script = (resources.files("kedge.review") / "static" / "profiles.js").read_text()
    assert 'rel: "noopener noreferrer"' in script
    assert '["http:", "https:"]' in script, "no other scheme becomes a link"
    assert "innerHTML" not in script
