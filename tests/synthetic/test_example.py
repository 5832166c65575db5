"""The example that comes with kedge: its files are what the generator makes, and they fit together."""

from __future__ import annotations

import csv
import io
from importlib.resources import files

from kedge.synthetic import EXAMPLE_FILES, make_example, read_example


def _rows(name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(read_example(name).decode())))[1:]


def test_the_files_are_what_the_generator_makes() -> None:
    made = make_example()
    assert tuple(made) == EXAMPLE_FILES
    differ = [name for name in EXAMPLE_FILES if made[name] != read_example(name)]
    assert differ == [], "write them again: kedge.synthetic.make_example"


def test_nothing_else_is_shipped_and_it_is_small() -> None:
    shipped = {file.name: len(file.read_bytes()) for file in (files("kedge.synthetic") / "example_files").iterdir()}
    assert sorted(shipped) == sorted(EXAMPLE_FILES)
    assert sum(shipped.values()) < 300_000


def test_pairs_and_profiles_are_of_accounts_in_the_networks() -> None:
    sides = [{name for row in _rows(f"{side}.csv") for name in row} for side in ("left", "right")]
    pairs = _rows("known.csv") + _rows("held-out.csv")
    for side, accounts in enumerate(sides):
        named = [pair[side] for pair in pairs]
        assert len(named) == len(set(named)) == 320
        assert set(named) <= accounts
        profiles = _rows(f"{('left', 'right')[side]}-profiles.csv")
        assert {row[0] for row in profiles} == accounts
