"""Cells that a spreadsheet would run: found in every disguise, guarded, and read back exactly."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.ingest.formulas import guard, guard_table, unguard


def guarded(*cells: str) -> list[str]:
    return guard(pa.array(cells)).to_pylist()


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
@pytest.mark.parametrize("before", ["", " ", "\t", "\u00a0", "\u200b", "\ufeff", '"', "'", " \u3000'\""])
def test_a_formula_in_any_disguise_is_guarded(sign: str, before: str) -> None:
    assert guarded(f"{before}{sign}cmd|' /C calc'!A0") == [f"'{before}{sign}cmd|' /C calc'!A0"]


def test_a_cell_that_begins_with_a_tab_or_a_line_end_is_guarded() -> None:
    assert guarded("\tx", "\rx", "\nx") == ["'\tx", "'\rx", "'\nx"]


def test_other_cells_are_unchanged() -> None:
    plain = ["", "alice", "a=b", "1-2", "me@example.org", "'tis", "007", "é＝"]
    assert guarded(*plain) == plain


@given(st.lists(st.text(alphabet="=+-@＝'\" \t\r\nab\u200b", max_size=5)))
def test_what_is_guarded_is_read_back_exactly(cells: list[str]) -> None:
    column = pa.array(cells, pa.string())
    assert unguard(guard(column)).to_pylist() == cells


def test_numbers_are_no_formulas() -> None:
    table, changed = guard_table(pa.table({"id": ["-5", "a"], "score": [-0.5, 1.0]}))
    assert changed == 1
    assert table.to_pydict() == {"id": ["'-5", "a"], "score": [-0.5, 1.0]}
