"""`kedge check`: facts and a cost estimate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import kedge

from kedge.ingest import read_network


def test_check_shows_facts_and_cost(pair: Any) -> None:
    words = ("check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv")
    report = json.loads(kedge(*words, "--json", "-q").stdout)
    assert report["left"]["accounts"] == 400
    assert report["anchors"]["listed"]["found"] == report["anchors"]["listed"]["rows"]
    assert 0 < report["anchors"]["overlap"] <= 1
    text = kedge(*words).stdout
    assert "edge overlap" in text
    assert "CPU seconds" in text


def test_an_input_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n" * 300_000)
    kedge("check", path, path, "-q", "--max-input-memory", "100MB")
    result = kedge("check", path, path, "-q", "--max-input-memory", "1MB", code=2)
    assert "edges.csv: holds more than 1 MB" in result.stderr
    assert kedge("check", path, path, "-q", "--max-input-memory", "much", code=2).stderr.count("\n") == 1


def test_edges_among_anchors_are_compared_with_chance(pair: Any, tmp_path: Path) -> None:
    files = (pair / "left.tsv", pair / "right.tsv")
    left, right = zip(
        *(line.split("\t") for line in (pair / "anchors.tsv").read_text().split("\n") if line), strict=True
    )
    anchors = tmp_path / "anchors.tsv"
    anchors.write_text("".join(f"{a}\t{b}\n" for a, b in zip(left, right[7:] + right[:7], strict=True)))
    found = json.loads(kedge("check", *files, "-a", anchors, "--json", "-q").stdout)["warnings"]
    assert sum("edges among the anchors are in both networks, no more than by chance" in line for line in found) == 1
    right_ones = json.loads(kedge("check", *files, "-a", pair / "anchors.tsv", "--json", "-q").stdout)["warnings"]
    assert not any("by chance" in line for line in right_ones)


def test_the_estimate_counts_profiles(pair: Any, tmp_path: Path) -> None:
    words = ["check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv", "--json", "-q"]
    alone, found = json.loads(kedge(*words).stdout), []
    for fields in (1, 3):
        for side in ("left", "right"):
            names = read_network(pair / f"{side}.tsv")[0].ids.to_pylist()
            head = ",".join(["id", *(f"f{i}" for i in range(fields))])
            rows = [",".join([name, *(f"v{(k + i) % 7}" for i in range(fields))]) for k, name in enumerate(names)]
            (tmp_path / f"{side}.csv").write_text("\n".join([head, *rows]))
        given = ["--left-profiles", tmp_path / "left.csv", "--right-profiles", tmp_path / "right.csv"]
        found.append(json.loads(kedge(*words, *given).stdout))
    costs = [report["cpu_seconds"] for report in (alone, *found)]
    assert costs[1] > 1.5 * costs[0]
    accounts = sum(alone[side]["accounts"] for side in ("left", "right"))
    assert costs[2] - costs[1] == pytest.approx(2 * 4e-5 * accounts, abs=0.1)
    assert found[1]["peak_mb"] > alone["peak_mb"]
