"""`kedge compare`: the same splits, resumed after a kill, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import kedge, plant
from forked import Forked, killed_when

from kedge.errors import KedgeError
from kedge.experiments.cells import Shares, cell_key, read_folder
from kedge.experiments.compare import Overrides, parse_methods, plan_cell
from kedge.experiments.measure import measure_cell
from kedge.experiments.paper import Variant
from kedge.experiments.tables import summarise
from kedge.ingest import read_network

PLAIN = Variant("common-neighbours", "common-neighbours")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("pair") / "data")


def test_for_an_unknown_method_the_nearest_is_named() -> None:
    with pytest.raises(KedgeError, match="did you mean 'evidence'"):
        parse_methods("evidense")
    assert [v.preset for v in parse_methods("mgcn:paper,mgcn, mgcn")] == ["paper", "default"]


def test_compare_prints_what_it_keeps_and_goes_on_after_a_kill(pair: Path, tmp_path: Path) -> None:
    methods, settings = "common-neighbours,faq", ("baselines.dense_cells=10",)
    words = ["compare", "--data", pair, "-m", methods, "--seeds", 2, "--set", *settings, "-o", tmp_path / "out"]
    kept = tmp_path / "out" / "cells"
    Forked(killed_when, kept, "*.json", 1, *words, "-q").end()
    first = {path.name: path.read_bytes() for path in kept.glob("*.json")}
    assert first, "at least one cell was finished"
    assert not (tmp_path / "out" / "comparison.json").exists(), "the kill came before the end"
    (kept / ".kedge-tmp-x").write_text("half a ce")

    said = json.loads(kedge(*words, "-q", "--json", "--workers", 2).stdout)
    for name, content in first.items():
        assert (kept / name).read_bytes() == content, "finished cells are not measured again"
    assert not list(kept.glob(".kedge-tmp-*"))
    plan = [plan_cell(read_folder(pair), Shares(0.2, 0.8), PLAIN, seed, Overrides(settings)) for seed in (0, 1)]
    whole = [measure_cell(one) for one in plan]
    plain, refused = said["methods"]
    assert [one["figures"] for one in plain["cells"]] == [one.figures for one in whole]
    assert plain["mean"] == dict(summarise(whole).mean)
    assert plain["spread"] == dict(summarise(whole).spread)
    assert plain["peak_mb"] > 50
    assert refused["seeds"] == 0
    assert "cells" in refused["reason"]

    # A damaged cell is measured again; the table for people gives the reason of a refusal.
    (kept / f"{cell_key(plan[0])}.json").write_text("{")
    result = kedge(*words, "-q", "--plot", tmp_path / "plot.svg")
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["methods"][0]["mean"] == plain["mean"]
    assert f"faq: {refused['reason']}" in result.stdout
    assert (tmp_path / "plot.svg").read_text().count("<svg") == 1
    assert "exists already" in kedge(*words, "-q", "--plot", tmp_path / "plot.svg", code=2).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to compare on"),
        (("--data", "{pair}", "-m", "perkolation"), "did you mean 'percolation'"),
        (("--data", "{pair}", "--split", "off20"), "no split 'off20'"),
        (("--data", "{pair}", "--train", "1.5"), "give a share between 0 and 1"),
        (("--data", "{pair}", "--seeds", "0"), "give 1 or more"),
        (("--data", "{pair}", "--workers", "-1"), "give 1 or more"),
        (("--data", "{pair}", "--plot", "x.bmp"), "end it in .png"),
        (("--data", "{pair}", "-m", "mgcn:papre"), "no preset 'papre'"),
        (("--data", "{pair}", "--set", "candidats=3"), "did you mean 'candidates'"),
        (("--data", "/nowhere"), "no such directory"),
        (("{pair}/left.tsv", "{pair}/right.tsv", "--anchors", "{pair}/none.tsv"), "no such file"),
        (("{pair}/right.tsv", "{pair}/left.tsv", "--anchors", "{pair}/anchors.tsv"), "swapped"),
        (
            (
                "{pair}/left.tsv",
                "{pair}/right.tsv",
                "-a",
                "{pair}/train.tsv",
                "--test",
                "{pair}/test.tsv",
                "--train",
                0.2,
            ),
            "leave it out",
        ),
    ],
)
def test_bad_input_of_compare_is_one_line(pair: Path, tmp_path: Path, words: Any, said: str) -> None:
    words = [str(word).format(pair=pair) for word in words]
    result = kedge("compare", *words, "-q", "-o", tmp_path / "out", code=2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_methods_that_read_profiles_are_compared_with_them(pair: Path, tmp_path: Path) -> None:
    truth = dict(line.split("\t") for line in (pair / "anchors.tsv").read_text().splitlines())
    person = {**{name: name for name in truth}, **{name: own for own, name in truth.items()}}
    for side in ("left", "right"):
        ids = read_network(pair / f"{side}.tsv")[0].ids.to_pylist()
        rows = [f"{name},city{int(person.get(name, name)[1:]) % 15}" for name in ids]
        (tmp_path / f"{side}.csv").write_text("\n".join([f"id,{side}_city", *rows, "zzz,x"]))
    given = ["--left-profiles", tmp_path / "left.csv", "--right-profiles", tmp_path / "right.csv"]
    words = ["compare", "--data", pair, "-m", "evidence,common-neighbours", "--seeds", 1, "--json"]
    alone = json.loads(kedge(*words, "-q").stdout)["methods"]
    said = kedge(*words, *given, "--compare", "left_city~right_city:category")
    found = json.loads(said.stdout)["methods"]
    assert found[0]["reason"] == ""
    assert found[0]["mean"]["hits1"] > alone[0]["mean"]["hits1"] + 0.05
    assert found[1]["mean"] == alone[1]["mean"]
    assert "not read by common-neighbours: profiles" in said.stderr
    assert "left profiles: 1 of" in said.stderr
    failed = kedge(*words, *given[:2], "-q", code=2).stderr
    assert "profiles of one network alone, none of the right one" in failed
    assert failed.count("\n") == 1
