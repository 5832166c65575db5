"""`--columns` and its kin: the commands read the columns that the user names, wherever they are in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import kedge
from graphs import communities

from kedge.pipeline import load_table

SETTINGS = ("--set", "evidence.rounds=5", "--set", "pairing.use=no")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network and its copy, with dates, ranks and scores before and between the ids; and both of them plain."""
    folder = tmp_path_factory.mktemp("odd")
    edges = np.argwhere(np.triu(communities(60, 4, 0.4, 0.05, 0).adjacency.toarray(), 1)).tolist()
    rows = {
        "left.csv": ["day,nick,km,pal", *(f"2024-01-{1 + a % 28:02},a{a},{b},a{b}" for a, b in edges)],
        "right.csv": [f"{a}|b{a}|b{b}" for a, b in edges],
        "anchors.csv": ["score,left handle,right handle", *(f"0.{i},a{i},b{i}" for i in range(30))],
        "test.csv": [f"b{i};x;a{i}" for i in range(30, 60)],
        "plain-left.tsv": [f"a{a}\ta{b}" for a, b in edges],
        "plain-right.tsv": [f"b{a}\tb{b}" for a, b in edges],
        "plain-anchors.tsv": [f"a{i}\tb{i}" for i in range(30)],
    }
    for name, lines in rows.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def words(folder: Path, plain: bool = False) -> list[Any]:
    if plain:
        return [folder / "plain-left.tsv", folder / "plain-right.tsv", "-a", folder / "plain-anchors.tsv"]
    named = ["--left-columns", "nick,pal", "--right-columns", "2,3", "--anchor-columns", "left handle,right handle"]
    return [folder / "left.csv", folder / "right.csv", "-a", folder / "anchors.csv", *named]


@pytest.fixture(scope="module")
def matched(odd: Path) -> Path:
    kedge("match", *words(odd), "-o", odd / "run", *SETTINGS, "-q")
    return odd / "run"


def test_match_reads_the_named_columns(odd: Path, matched: Path) -> None:
    kedge("match", *words(odd, plain=True), "-o", odd / "plain", *SETTINGS, "-q")
    assert load_table(matched, 10).equals(load_table(odd / "plain", 10))


def test_other_columns_are_another_run(odd: Path, matched: Path) -> None:
    refused = kedge("match", *words(odd), "-o", matched, *SETTINGS, "-q", "--columns", "2,3", code=2).stderr
    assert "read.columns: [] -> ['2', '3']" in refused


def test_columns_may_be_in_a_file_of_settings(odd: Path, tmp_path: Path) -> None:
    (tmp_path / "kedge.toml").write_text(
        '[read]\nleft_columns = "nick,pal"\nright_columns = [2, 3]\nanchor_columns = ["left handle", "right handle"]\n'
    )
    files = words(odd)[:4]
    report = json.loads(kedge("check", *files, "--config", tmp_path / "kedge.toml", "--json", "-q").stdout)
    assert report == json.loads(kedge("check", *words(odd), "--json", "-q").stdout)
    assert report["anchors"]["listed"]["found"] == 30
    assert report["left"]["accounts"] == report["right"]["accounts"] == 60


def test_dates_read_as_accounts_are_refused_in_one_line(odd: Path, tmp_path: Path) -> None:
    refused = kedge("match", *words(odd)[:4], "-o", tmp_path / "run", "-q", code=2).stderr
    assert refused.count("\n") == 1
    assert "left.csv: column 'day' holds dates, not accounts (the first is '2024-01-01')" in refused
    assert "--columns source,target" in refused
    assert not (tmp_path / "run").exists()


def test_an_unknown_column_is_refused_in_one_line(odd: Path, tmp_path: Path) -> None:
    refused = kedge("match", *words(odd)[:4], "-o", tmp_path / "run", "-q", "--columns", "nick,friend", code=2).stderr
    assert refused.count("\n") == 1
    assert "left.csv: no column 'friend': its columns are day, nick, km, pal; name these, or number them" in refused
    assert not (tmp_path / "run").exists()


def test_evaluate_has_columns_of_its_own(odd: Path, matched: Path) -> None:
    refused = kedge("evaluate", matched, "--test", odd / "test.csv", code=2).stderr
    assert "test.csv: no column 'left handle'" in refused
    figures = json.loads(
        kedge("evaluate", matched, "--test", odd / "test.csv", "--anchor-columns", "3,1", "--json").stdout
    )
    assert figures["test_pairs"] == 30


def test_compare_reads_the_named_columns(odd: Path) -> None:
    asked = ("compare", *words(odd), "--methods", "common-neighbours", "--seeds", 1, "--train", 0.5, "--json")
    done = json.loads(kedge(*asked, "-q").stdout)
    assert done["methods"][0]["cells"][0]["facts"]["left_accounts"] == 60


def test_synth_reads_the_named_columns(odd: Path, tmp_path: Path) -> None:
    kedge("synth", odd / "left.csv", "--columns", "nick,pal", "-o", tmp_path / "pair", "-q")
    names = {name for line in (tmp_path / "pair" / "left.tsv").read_text().split("\n") for name in line.split("\t")}
    assert len(names) <= 61
    assert "column 'day' holds dates" in kedge("synth", odd / "left.csv", "-o", tmp_path / "other", "-q", code=2).stderr


def test_embed_reads_the_named_columns(odd: Path, tmp_path: Path) -> None:
    quick = ("--set", "mgcn.steps=40", "--set", "mgcn.dimensions=8")
    out = tmp_path / "vectors.csv"
    kedge("embed", odd / "left.csv", "--columns", "nick,pal", "-o", out, *quick, "-q")
    assert {line.partition(",")[0].strip('"') for line in out.read_text().splitlines()[1:]} == {
        f"a{i}" for i in range(60)
    }
