"""Results as tables: rows, ids, frames, and what a notebook shows."""

from __future__ import annotations

import re
import sys

import pandas
import pyarrow as pa
import pytest

import kedge
from kedge.api import CandidateRow, MatchRow, Run, SynthPair, Table


def _matches(
    *rows: tuple[str, str | None, str, float | None], names: tuple[str, str] = ("left", "right")
) -> Table[MatchRow]:
    full = [MatchRow(left, right, decision, p, p, None, "kedge")._asdict() for left, right, decision, p in rows]
    return Table(pa.Table.from_pylist(full), MatchRow, "Matches", names)


def test_matches_are_sorted_and_found_by_id(held: Run, pair: SynthPair) -> None:
    matches = held.matches
    order = ["known", "confirmed", "match"]
    places = [(order.index(row.decision), -(row.probability or 0)) for row in matches]
    assert places == sorted(places)
    rows = list(matches)
    assert len(matches) == len(rows) == len(matches.to_dicts())
    assert matches[rows[-1].left] == rows[-1]
    assert matches.find(right=rows[-1].right) == [rows[-1]]
    assert rows[-1].left in matches
    assert "no such" not in matches
    assert matches.columns == MatchRow._fields


def test_an_unknown_id_is_named_with_a_near_one(held: Run) -> None:
    row = next(iter(held.matches))
    with pytest.raises(KeyError, match=f"no left id '{row.right}' in matches; it is a right id"):
        held.matches[row.right]
    with pytest.raises(kedge.KedgeError, match="did you mean"):
        held.matches[row.left + "x"]
    with pytest.raises(kedge.KedgeError, match="no left id '0' in matches; in . . stands a left id; list"):
        held.matches[0]
    with pytest.raises(kedge.KedgeError, match="id 1.5 is a decimal number"):
        held.matches[1.5]
    with pytest.raises(kedge.KedgeError, match="nothing to find"):
        held.matches.find()


def test_candidates_of_an_account(held: Run) -> None:
    table = held.candidates(3)
    left = next(iter(table)).left
    found = table.find(left=left)
    assert [row.rank for row in found] == [1, 2, 3]
    assert table[left] == found[0]
    assert table.columns == CandidateRow._fields
    with pytest.raises(kedge.KedgeError, match="candidates is 0; ask for 1 to"):
        held.candidates(0)
    with pytest.raises(kedge.KedgeError, match="not a whole number"):
        held.candidates("3")


def test_frames_of_three_libraries_have_the_same_rows(held: Run) -> None:
    table = held.matches.to_arrow()
    assert held.matches.to_pandas().equals(table.to_pandas())
    assert held.matches.to_polars().to_arrow().column("left").to_pylist() == table["left"].to_pylist()
    assert isinstance(held.matches.to_pandas(), pandas.DataFrame)


@pytest.mark.parametrize(("library", "call"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_missing_library_is_one_line_with_the_command(
    held: Run, library: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == library else sys.modules.get(name))
    with pytest.raises(kedge.KedgeError, match=f"needs {library}; install with: pip install {library}"):
        getattr(held.matches, call)()


def test_a_notebook_shows_escaped_ids_and_the_names_of_the_sides() -> None:
    long = "a" * 200
    table = _matches(
        ("<b>x</b>", "=1+1", "match", 0.9), (long, "y\u202e\u200b", "match", 0.8), names=("f.csv", "<t>.csv")
    )
    shown = table._repr_html_()
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "left (f.csv)" in shown
    assert "right (&lt;t&gt;.csv)" in shown
    assert "[U+202E][U+200B]" in shown, "nothing reorders or hides what is read"
    assert f'title="{long}"' in shown
    assert len(max(re.findall("a+", re.sub('title="[^"]*"', "", shown)), key=len)) < 61
    assert table[long].left == long, "cut in display only"


def test_what_is_shown_has_counts_and_a_few_known_pairs() -> None:
    known = [(f"k{i}", f"r{i}", "known", 1.0) for i in range(20)]
    table = _matches(*known, *((f"m{i}", f"s{i}", "match", 0.9) for i in range(20)))
    text = repr(table)
    assert "Matches: 40 (20 known, 20 match)" in text
    assert ("k2" in text, "k3" in text, "m6" in text, "m7" in text) == (True, False, True, False)
    assert text.endswith("10 of 40 rows are shown")
    assert "20 of" not in repr(_matches(*known[:4]))
    assert repr(_matches(*known)).count("r") >= 10, "known ones alone fill the place"
    empty = Table(pa.Table.from_pylist([], schema=table.to_arrow().schema), MatchRow, "Matches")
    assert (len(empty), "Matches: 0" in repr(empty), "Matches: 0" in empty._repr_html_()) == (0, True, True)
