"""Planted profiles: the same seed, the same values; the harder, the less two networks agree."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pytest
from command import kedge

from kedge import synthetic
from kedge.errors import KedgeError

PAIR = synthetic.planted(400, 420, 300, 1200, 1300, overlap=0.6, seed=1)


def _agreement(difficulty: str) -> dict[str, float]:
    """Of each field: the share of persons in both networks that show the same value, missing ones included."""
    tables = synthetic.plant_profiles(PAIR, difficulty, seed=0)
    rows = [{row["id"]: row for row in table.to_pylist()} for table in tables]
    pairs = [(rows[0][PAIR.left.name(u)], rows[1][PAIR.right.name(v)]) for u, v in PAIR.anchors]
    return {
        field: sum(one[field] == other[field] is not None for one, other in pairs) / len(pairs)
        for field in ("handle", "name", "city")
    }


def test_difficulty_is_how_little_two_networks_agree() -> None:
    easy, medium, hard = map(_agreement, synthetic.DIFFICULTIES)
    for field in easy:
        assert easy[field] > medium[field] > hard[field]
    assert easy["name"] > 0.6
    assert hard["handle"] < 0.1


def test_rows_are_of_all_accounts_in_no_order_and_strangers_share_names() -> None:
    left, right = synthetic.plant_profiles(PAIR, "medium", seed=0)
    assert sorted(left["id"].to_pylist()) == sorted(PAIR.left.ids.to_pylist())
    assert left["id"].to_pylist() != PAIR.left.ids.to_pylist()
    names = [name for name in right["name"].to_pylist() if name]
    assert 0.3 < len(set(names)) / len(names) < 0.95
    assert 0.1 < right["bio"].null_count / right.num_rows < 0.3


def test_the_same_seed_gives_the_same_values() -> None:
    one, again, other = (synthetic.plant_profiles(PAIR, "hard", seed=seed)[0] for seed in (3, 3, 4))
    assert one.equals(again)
    assert not one.equals(other)


def test_an_unknown_difficulty_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(KedgeError, match="no difficulty 'brutal'; choose one of: easy, medium, hard"):
        synthetic.plant_profiles(PAIR, "brutal", 0)
    assert "choose one of: easy" in kedge("synth", "-o", tmp_path / "s", "--profiles", "brutal", code=2).stderr
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("format", ["tsv", "parquet"])
def test_the_command_writes_them(tmp_path: Path, format: str) -> None:
    kedge("synth", "-o", tmp_path, "--nodes", 60, "--profiles", "easy", "--format", format, "-q")
    assert json.loads((tmp_path / "synth.json").read_text())["profiles"] == "easy"
    if format == "tsv":
        table = pyarrow.csv.read_csv(tmp_path / "left.profiles.csv")
        assert table.column_names == ["id", "handle", "name", "city", "bio"]
        assert table.num_rows == 60
    else:
        assert (tmp_path / "right.profiles.parquet").exists()
