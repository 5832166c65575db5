"""docs/equations.md: every row names a function that exists and a test that exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "equations.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| equation"))
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_row_names_a_function_and_a_test(row: Any) -> None:
    assert len(row) == 4, row
    place, test = (re.fullmatch(r"`([\w./]+)`", cell) for cell in row[2:])
    assert place, f"no function: {row}"
    assert test, f"no test: {row}"
    module, _, name = place[1].rpartition(".")
    assert callable(getattr(import_module(module), name))
    file, _, function = test[1].partition(".")
    source = (Path(__file__).parents[1] / f"{file}.py").read_text(encoding="utf-8")
    assert f"def {function}(" in source


def test_every_equation_is_listed_or_named_as_not_built() -> None:
    listed = {int(number) for row in ROWS for number in re.findall(r"\d+", row[0].replace("section 2.3", ""))}
    missing = set(range(1, 13)) - listed
    unbuilt = TEXT.partition("## Not yet built")[2].partition("##")[0]
    assert all(f"Eq. {number}" in unbuilt for number in missing), missing
