"""Ids that differ from those of a network in the way they are written: counted and stated, never changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs, read_profiles, resolve_pairs
from kedge.ingest.alike import find_alike
from kedge.types import Network

NAMES = [f"User{i:03}" for i in range(20)]
NETWORK = Network.from_edges([(i, i + 1) for i in range(19)], 20, NAMES)


@pytest.mark.parametrize(
    ("change", "ignored"),
    [
        (str.lower, "case is ignored"),
        (str.upper, "case is ignored"),
        ("@{}".format, "a leading @ is ignored"),
        ("'{}'".format, "quotes are ignored"),
        ("\ufeff{}".format, "invisible characters and Unicode forms are ignored"),
        (lambda name: f"@{name.upper()}", "case, a final .0, leading zeros and a leading @ are ignored"),
    ],
)
def test_what_is_ignored_is_found(change: object, ignored: str) -> None:
    assert callable(change)
    listed = pa.array([change(name) for name in NAMES])
    found = find_alike([listed, listed], [NETWORK, NETWORK], np.zeros(20, bool))
    assert found is not None
    assert (found.rows, found.ignored, found.known) == (20, ignored, "User000")


def test_ids_that_would_become_one_are_not_taken_for_each_other() -> None:
    network = Network.from_edges([(0, 1), (1, 2)], 3, ["Ann", "ANN", "bob"])
    found = find_alike([pa.array(["ann", "Bob"])], [network], np.zeros(2, bool))
    assert found is not None
    assert (found.rows, found.listed, found.known) == (1, "Bob", "bob")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=6), max_size=12))
def test_any_ids_are_compared_without_a_fault(names: list[str]) -> None:
    listed = pa.array(names, pa.string())
    found = find_alike([listed], [NETWORK], NETWORK.find(listed) >= 0)
    assert found is None or found.rows <= len(names)


def test_few_that_differ_are_a_note_and_many_a_refusal(tmp_path: Path) -> None:
    def pairs(wrong: int) -> Path:
        rows = [(n.lower(), n.lower()) if i < wrong else (n, n) for i, n in enumerate(NAMES)]
        (tmp_path / "known.csv").write_text("left,right\n" + "".join(f"{a},{b}\n" for a, b in rows))
        return tmp_path / "known.csv"

    found = resolve_pairs(read_pairs(pairs(3)), NETWORK, NETWORK)
    assert found.report.notes == (
        "20 of 20 anchors match if case is ignored, and 17 as they are: 'user000' is 'User000' in the network; "
        "write them alike",
    )
    assert found.report.found == 17
    with pytest.raises(KedgeError, match="known.csv:2: 15 of 20 anchors .* but 20 of 20 match if case is ignored"):
        resolve_pairs(read_pairs(pairs(15)), NETWORK, NETWORK)


def test_profiles_whose_ids_differ_are_stated_without_showing_one() -> None:
    frame = pa.table({"id": [name.lower() for name in NAMES], "city": ["Rome"] * 20})
    with pytest.raises(
        KedgeError, match="no row is of an account of this network, but 20 of 20 are if case is ignored"
    ):
        read_profiles(frame, NETWORK)
    some = pa.table({"id": [*NAMES[:10], *[name.lower() for name in NAMES[10:]]], "city": ["Rome"] * 20})
    notes = read_profiles(some, NETWORK)[1].notes("left", 20)
    assert notes[0] == "left profiles: 20 of 20 rows match if case is ignored, and 10 as they are"


def test_the_same_network_twice_is_recognised() -> None:
    mixed, _ = read_network([("b", "c"), ("a", "b")])
    other, _ = read_network([("a", "b"), ("c", "b")])
    assert mixed.is_same_as(other)
    assert not mixed.is_same_as(read_network([("a", "b"), ("a", "c")])[0])
    assert not mixed.is_same_as(NETWORK)
