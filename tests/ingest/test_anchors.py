"""Anchors in: found, unknown, repeated, contradictory, swapped; and what a problem is made of."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import pair

from kedge.errors import KedgeError
from kedge.ingest import build_problem, read_network, read_pairs, resolve_pairs, resolve_test
from kedge.ingest.checks import check
from kedge.types import Network, Problem, Split

LEFT = Network.from_edges([(0, 1), (1, 2), (2, 3)], 4, ["a0", "a1", "a2", "a3"])
RIGHT = Network.from_edges([(0, 1), (1, 2), (2, 3)], 4, ["b0", "b1", "b2", "b3"])


def resolve(rows: Any) -> Any:
    columns = read_pairs(rows)
    return resolve_pairs(columns, LEFT, RIGHT), columns


def test_pairs_are_found_counted_and_repeats_dropped() -> None:
    resolved, _ = resolve([("a0", "b0"), ("a0", "b0"), ("a2", "b1"), ("a9", "b9")])
    assert resolved.pairs.tolist() == [[0, 0], [2, 1], [-1, -1]]
    report = resolved.report
    assert (report.rows, report.found, report.unknown, report.repeated) == (4, 2, 1, 1)


def test_pairs_exported_for_spreadsheets_are_read_back() -> None:
    left = Network.from_edges([(0, 1), (1, 2)], 3, ["@a", "'=b", "=b"])
    right = Network.from_edges([(0, 1), (1, 2)], 3, ["x", "'-y", "z"])
    exported = [("'@a", "x"), ("''=b", "'-y"), ("'=b", "z")]
    # '=b is an id of the left network, so it is taken as it is; so is '-y.
    assert resolve_pairs(read_pairs(exported), left, right).pairs.tolist() == [[0, 0], [1, 1], [1, 2]]


def test_swapped_columns_are_recognised_and_named() -> None:
    with pytest.raises(KedgeError, match=r"columns look swapped: 2 of 2 .*exchange"):
        resolve([("b0", "a0"), ("b1", "a2")])


def test_anchors_of_other_networks_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("# known pairs\nx0,y0\nx1,y1\n")
    with pytest.raises(KedgeError, match=r"anchors\.csv:2: 2 of 2 anchors name accounts that are in no edge"):
        resolve_pairs(read_pairs(path), LEFT, RIGHT)


def test_a_header_that_only_the_networks_reveal(tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("facebook,twitter\na0,b0\na1,b1\n")
    resolved = resolve_pairs(read_pairs(path), LEFT, RIGHT)
    assert resolved.report.rows == 2
    assert "header" in " ".join(resolved.report.notes)


@pytest.mark.parametrize("rows", [[("a0", "b0"), ("a0", "b1")], [("a0", "b0"), ("a1", "b0")]])
def test_contradictions_are_refused_or_dropped_on_request(rows: Any) -> None:
    rows = [*rows, ("a3", "b3")]
    resolved, columns = resolve(rows)
    assert resolved.report.contradictory == 2
    with pytest.raises(KedgeError, match=r"row 0: anchor .* contradicts .*contradictory=drop"):
        build_problem(LEFT, RIGHT, resolved, columns)
    problem = build_problem(LEFT, RIGHT, resolved, columns, "drop")
    assert [(problem.left.name(u), problem.right.name(v)) for u, v in problem.anchors] == [("a3", "b3")]


def test_anchored_accounts_without_edges_join_as_isolated_ones() -> None:
    resolved, columns = resolve([("a0", "b0"), ("a1", "b1"), ("a2", "lonely")])
    problem = build_problem(LEFT, RIGHT, resolved, columns)
    assert problem.right.n == 5
    assert problem.right.degrees[problem.right.find(["lonely"])[0]] == 0
    assert len(problem.anchors) == 3


def test_no_anchors_are_refused() -> None:
    with pytest.raises(KedgeError, match="no anchors"):
        resolve([])


def test_test_pairs_that_are_anchors_are_left_out_of_the_evaluation() -> None:
    resolved, columns = resolve([("a0", "b0")])
    problem = build_problem(LEFT, RIGHT, resolved, columns)
    test, notes = resolve_test(read_pairs([("a0", "b0"), ("a1", "b1"), ("a2", "nobody")]), problem)
    assert test.tolist() == [[1, 1], [2, -1]]
    assert "1 test pairs are anchors too" in " ".join(notes)
    with pytest.raises(KedgeError, match="every test pair is an anchor"):
        resolve_test(read_pairs([("a0", "b0")]), problem)


def test_a_test_pair_cannot_be_reached_from_a_problem() -> None:
    split = Split(Problem(LEFT, RIGHT, np.array([[0, 0]])), np.array([[1, 1]]))
    fields = {f.name for f in dataclasses.fields(Problem)}
    assert fields == {"left", "right", "anchors", "rejected", "hypergraphs", "sides", "profiles", "shared_values"}
    assert not any(getattr(split.problem, name) is split.test for name in fields)


def test_frozen_things_refuse_changes() -> None:
    problem = Problem(LEFT, RIGHT, np.array([[0, 0]]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.anchors = np.array([[1, 1]])  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        problem.anchors[0, 0] = 3
    with pytest.raises(ValueError, match="read-only"):
        LEFT.adjacency.data[0] = 3
    with pytest.raises(KedgeError, match="'a0' stands in more than one anchor"):
        Problem(LEFT, RIGHT, np.array([[0, 0], [0, 1]]))


def facts(rows: Any, left: Any = LEFT, right: Any = RIGHT) -> Any:
    resolved, _ = resolve(rows)
    from kedge.ingest import EdgeReport

    read = EdgeReport(3, False, 0, 0, 0, 0, 0, False, False, ())
    return check((left, read), (right, read), (resolved.pairs, resolved.report))


def test_check_counts_the_edges_that_anchors_share() -> None:
    # left path a0-a1-a2, right b0-b1-b2; anchor a2 on b3 keeps one of the left's two edges.
    report = facts([("a0", "b0"), ("a1", "b1"), ("a2", "b3")])
    assert report.anchors is not None
    assert (report.anchors.edges_left, report.anchors.edges_right, report.anchors.edges_both) == (2, 1, 1)
    assert report.anchors.overlap == pytest.approx(1 / 2)
    assert (report.left.components, report.left.largest_component, report.left.degree_max) == (1, 4, 2)


def test_check_warns_in_plain_words() -> None:
    same = Network.from_edges([(0, 1), (1, 2), (2, 3)], 4, ["p", "q", "r", "s"])
    columns = read_pairs([("p", "p"), ("q", "q")])
    resolved = resolve_pairs(columns, same, same)
    from kedge.ingest import EdgeReport

    read = EdgeReport(3, False, 0, 0, 0, 0, 0, False, False, ())
    said = " ".join(check((same, read), (same, read), (resolved.pairs, resolved.report)).warnings)
    assert "ids are equal on 100% of the anchors" in said
    assert "too few to estimate" in said


def test_check_names_ids_that_people_would_read_as_one() -> None:
    ids = ["1", "01", "2"]
    left = Network.from_edges([(0, 1), (1, 2)], 3, ids)
    from kedge.ingest import EdgeReport

    read = EdgeReport(2, False, 0, 0, 0, 0, 0, False, False, ())
    assert "leading zeros" in " ".join(check((left, read), (RIGHT, read), None).warnings)
    accents = Network.from_edges([(0, 1), (1, 2)], 3, ["é", "e\u0301", "x"])
    assert "Unicode form" in " ".join(check((accents, read), (RIGHT, read), None).warnings)


def test_a_real_pair_has_the_counts_of_its_source() -> None:
    folder = pair("cora")
    left, _ = read_network(folder / "left.tsv")
    right, _ = read_network(folder / "right.tsv")
    resolved = resolve_pairs(read_pairs(folder / "anchors.tsv"), left, right)
    assert (left.n, left.edges, right.n, right.edges) == (2708, 6334, 2613, 4542)
    assert (resolved.report.found, resolved.report.unknown) == (2613, 95)
