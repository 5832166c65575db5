"""Cells, tables and declared experiments: what figures are keyed by, how they are summed up, and that work resumes."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from engine_jobs import always_die, double, fail
from typer.testing import CliRunner

from kedge import evaluate
from kedge.cli import app
from kedge.config import ReadConfig
from kedge.engine.fresh import Died, Fresh
from kedge.errors import KedgeError
from kedge.experiments.cells import Cut, File, Pair, Planting, Shares, cell_key
from kedge.experiments.compare import parse_methods, plan_cell
from kedge.experiments.forward import MODELS, Forward, measure_forward
from kedge.experiments.measure import Measured, measure_cell
from kedge.experiments.pages import markdown_page
from kedge.experiments.paper import EXPERIMENTS, HALF, MACRO, Variant, published
from kedge.experiments.plots import draw_experiment
from kedge.experiments.problems import deal, make_split
from kedge.experiments.reproduce import Reproduced
from kedge.experiments.sources import PLANTED, data_root, find_network, read_folder
from kedge.experiments.tables import Entry, csv_text, markdown_table, shown, summarise
from kedge.methods import METHODS

SMALL = Planting(150, 900)
CUT = Cut(SMALL, 0.8, 0.8)
PLAIN = Variant("common-neighbours", "common-neighbours")


def kedge(*words: object, code: int = 0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pair") / "data"
    kedge("synth", "-o", folder, "--nodes", 150, "--overlap", 0.8, "--seed", 3, "-q")
    return folder


def cell(seed=0, data=CUT, shares=HALF, variant=PLAIN, settings=()):
    return plan_cell(data, shares, variant, seed, settings)


# What a cell is


def test_a_cell_is_keyed_by_everything_that_changes_its_figures():
    pair = Pair(File("l", "1"), File("r", "2"), File("a", "3"))
    others = [
        cell(),
        cell(seed=1),
        cell(data=Cut(SMALL, 0.7, 0.8)),
        cell(data=Cut(SMALL, 0.8, 0.7)),
        cell(data=Cut(replace(SMALL, seed=1), 0.8, 0.8)),
        cell(data=Cut(File("n", "9"), 0.8, 0.8)),
        cell(data=Cut(File("n", "8"), 0.8, 0.8)),
        cell(data=pair),
        cell(data=replace(pair, test=File("t", "4"))),
        cell(data=replace(pair, left=File("l", "5"))),
        cell(shares=Shares(0.4, 0.5)),
        cell(shares=Shares(0.5, 0.4)),
        cell(variant=Variant("evidence", "evidence")),
        cell(variant=Variant("mgcn", "mgcn")),
        cell(variant=Variant("mgcn", "mgcn", "paper")),
        cell(settings=("candidates=7",)),
    ]
    assert len({cell_key(one) for one in others}) == len(others)


def test_a_cell_is_not_keyed_by_names_and_places():
    assert cell_key(cell(variant=Variant("another label", PLAIN.method))) == cell_key(cell())
    here, there = (Cut(File(place, "9"), 0.8, 0.8) for place in ("/here/n.tsv", "/there/m.tsv"))
    assert cell_key(cell(data=here)) == cell_key(cell(data=there))


def test_the_kind_of_a_source_is_part_of_the_key():
    """A planted network never passes for a file, whatever their fields are."""
    assert cell_key(Planting(1, 2)) != cell_key(Cut(Planting(1, 2), 0.5, 0.5))


# How anchors are dealt out


def test_held_out_anchors_stay_the_same_while_observed_ones_grow():
    anchors = np.column_stack([np.arange(200), np.arange(200)[::-1]])
    dealt = [deal(anchors, Shares(share / 10, 0.1), seed=4) for share in range(1, 10)]
    for (few, held), (more, same) in pairwise(dealt):
        assert {tuple(p) for p in few} < {tuple(p) for p in more}
        assert (held == same).all()
    observed, held = dealt[-1]
    assert len(observed) == 180
    assert not {tuple(p) for p in observed} & {tuple(p) for p in held}
    assert (deal(anchors, Shares(0.5, 0.5), 5)[1] != deal(anchors, Shares(0.5, 0.5), 6)[1]).any()


def test_too_few_anchors_to_deal_out_are_refused():
    with pytest.raises(KedgeError, match="leave 0 to learn from"):
        deal(np.array([[0, 0], [1, 1]]), Shares(0.1, 0.9), 0)


def test_every_method_meets_the_same_split_and_another_seed_another():
    splits = [make_split(Cut(SMALL, 0.8, 0.8), Shares(0.5, 0.5), seed, ReadConfig()) for seed in (0, 0, 1)]
    assert (splits[0].test == splits[1].test).all()
    assert (splits[0].problem.left.adjacency != splits[1].problem.left.adjacency).nnz == 0
    assert splits[0].problem.left.edges != splits[2].problem.left.edges


def test_a_held_out_account_without_edges_cannot_be_found(tmp_path):
    for side in ("left", "right"):
        (tmp_path / f"{side}.tsv").write_text("".join(f"{i}\t{i + 1}\n" for i in range(9)))
    (tmp_path / "anchors.tsv").write_text("".join(f"{i}\t{i}\n" for i in range(10)) + "lone\tlone\n")
    files = [File(str(tmp_path / f"{name}.tsv"), "") for name in ("left", "right", "anchors")]
    for seed in range(20):
        split = make_split(Pair(*files), Shares(0.5, 0.5), seed, ReadConfig())
        lone = split.problem.left.find(["lone"])[0]
        assert lone not in split.test[:, 0]


# What is measured


def test_figures_are_those_of_the_one_evaluation_module():
    task = cell(variant=PLAIN)
    measured = measure_cell(task)
    split = make_split(task.data, task.shares, task.seed, ReadConfig())
    from kedge.config import Config

    alignment = METHODS[task.method](split.problem, Config.model_validate(dict(task.config)), task.seed)
    ranking = evaluate.ranking(alignment, split.test)
    for name in ("hits1", "hits10", "mrr"):
        assert measured.figures[name] == ranking[name]
    assert 0.5 < measured.figures["macro_f1"] <= 1
    assert measured.facts["observed"] == len(split.problem.anchors)


def test_reach_helps_where_little_is_shared_and_is_kedges_alone():
    little = Cut(Planting(1000, 12_000), 0.6, 0.1)
    kedge_own = Variant("evidence", "evidence")
    found = [
        measure_cell(cell(data=little, variant=kedge_own, settings=(f"decide.hops={hops}", "decide.folds=2")))
        for hops in (0, 4)
    ]
    without, with_reach = (one.figures["macro_f1"] for one in found)
    assert with_reach > without + 0.02
    assert found[0].figures["mrr"] == found[1].figures["mrr"], "rankings do not use it"
    plain = [measure_cell(cell(data=little, settings=(f"decide.hops={hops}",))).figures for hops in (0, 4)]
    assert plain[0] == plain[1]


def test_a_refusal_is_an_answer():
    measured = measure_cell(cell(variant=Variant("faq", "faq"), settings=("baselines.dense_cells=10",)))
    assert measured.status == "refused"
    assert measured.figures is None
    assert "\n" not in measured.reason
    assert len(measured.reason) > 10


# Mean and spread


def test_mean_and_spread_agree_with_a_hand_computed_oracle():
    cells = [
        Measured("ok", "", {"mrr": v, "ece": None}, None, cpu, 1.0, mb)
        for v, cpu, mb in ((0.2, 1.0, 50.0), (0.4, 3.0, 70.0), (0.9, 5.0, 60.0))
    ]
    summary = summarise(cells, ("mrr", "ece"))
    assert summary.mean["mrr"] == pytest.approx(0.5)
    # ((0.3)^2 + (0.1)^2 + (0.4)^2) / 2 = 0.13
    assert summary.spread["mrr"] == pytest.approx(math.sqrt(0.13))
    assert summary.mean["ece"] is None
    assert (summary.seeds, summary.cpu_seconds, summary.peak_mb) == (3, 3.0, 70.0)
    assert shown(summary, "mrr") == "0.500 ± 0.361"
    assert shown(summary, "mrr", brief=True) == ".500±.361"
    assert shown(summary, "ece") == "–"


def test_one_seed_has_no_spread_and_failures_do_not_count():
    good = Measured("ok", "", {"mrr": 0.25}, None, 1.0, 1.0, 1.0)
    summary = summarise([good, Measured("refused", "too large"), Measured("refused", "too large")], ("mrr",))
    assert summary.seeds == 1
    assert summary.spread["mrr"] is None
    assert shown(summary, "mrr") == "0.250"
    assert summary.reason == "too large"
    assert shown(summarise([Measured("failed", "died")], ("mrr",)), "mrr") == "–"


def test_tables_say_the_same_in_markdown_and_csv():
    good = Measured("ok", "", {"macro_f1": 0.75}, None, 2.0, 1.0, 9.0)
    entry = Entry("10 %", "a|b, c", summarise([good], ("macro_f1",)), {"macro_f1": 0.7})
    rows = list(csv.DictReader(io.StringIO(csv_text([entry]))))
    assert rows[0] == {
        "point": "10 %", "method": "a|b, c", "metric": "macro_f1", "mean": "0.75", "spread": "",
        "seeds": "1", "paper": "0.7", "reason": "",
    }  # fmt: skip
    assert markdown_table(("m", "x"), [("a|b", "1")]).splitlines() == ["| m | x |", "|---|---:|", "| a\\|b | 1 |"]


# Processes


def test_every_job_has_a_process_of_its_own_and_a_death_is_told():
    found = dict(Fresh(2).run(double, [1, 2, 3]))
    assert {place: value for place, (value, _) in found.items()} == {0: 2, 1: 4, 2: 6}
    assert len({process for _, process in found.values()}) == 3
    assert "killed" in dict(Fresh(1).run(always_die, [1]))[0].reason
    assert dict(Fresh(1).run(fail, [1]))[0] == Died("ValueError: no such thing")


# Declared experiments and the paper's figures


def test_every_experiment_names_known_methods_and_points():
    for experiment in EXPERIMENTS.values():
        labels = [point.label for point in experiment.points]
        assert len(set(labels)) == len(labels)
        assert set(experiment.quick) <= set(labels)
        assert {variant.method for variant in experiment.variants} <= METHODS.keys()
        assert {"place", "note", "points"} <= published()[experiment.name].keys()


def test_printed_figures_are_whole():
    for name in ("sparsity", "overlap"):
        printed = published()[name]
        assert printed["points"] == [point.x for point in EXPERIMENTS[name].points]
        for metric in MACRO:
            assert list(printed[metric]) == ["MGCN", "Autoencoder", "GCN", "HGNN", "PALE"]
            for values in printed[metric].values():
                assert len(values) == 9
                assert all(0.6 < value < 1 for value in values)
            # The paper prints its own method in bold in every column.
            assert all(max(column) == column[0] for column in zip(*printed[metric].values(), strict=True))


def test_without_data_a_planted_network_stands_in(tmp_path, monkeypatch):
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path))
    assert find_network(None, data_root()) == PLANTED
    with pytest.raises(KedgeError, match="no network 'nowhere'"):
        find_network("nowhere", data_root())
    (tmp_path / "singles" / "ego-facebook").mkdir(parents=True)
    (tmp_path / "singles" / "ego-facebook" / "edges.tsv").write_text("a\tb\n")
    assert find_network(None, data_root()).path.endswith("ego-facebook/edges.tsv")
    assert find_network("planted", data_root()) == PLANTED
    with pytest.raises(KedgeError, match="did you mean 'ego-facebook'"):
        find_network("ego-facebok", data_root())


def test_an_unknown_method_is_told_the_nearest():
    with pytest.raises(KedgeError, match="did you mean 'evidence'"):
        parse_methods("evidense")
    assert [v.preset for v in parse_methods("mgcn:paper,mgcn, mgcn")] == ["paper", "default"]


# The commands


def test_compare_prints_what_it_keeps_and_goes_on_after_a_kill(pair, tmp_path):
    methods, settings = "common-neighbours,faq", ("baselines.dense_cells=10",)
    words = ["compare", "--data", pair, "-m", methods, "--seeds", 2, "--set", *settings, "-o", tmp_path / "out"]
    kept = tmp_path / "out" / "cells"
    process = subprocess.Popen(
        [sys.executable, "-m", "kedge", *map(str, words), "-q"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 240
    while not list(kept.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = {path.name: path.read_bytes() for path in kept.glob("*.json")}
    assert first, "at least one cell was finished"
    assert not (tmp_path / "out" / "comparison.json").exists(), "the kill came before the end"
    (kept / ".kedge-tmp-x").write_text("half a ce")

    said = json.loads(kedge(*words, "-q", "--json", "--workers", 2).stdout)
    for name, content in first.items():
        assert (kept / name).read_bytes() == content, "finished cells are not measured again"
    assert not list(kept.glob(".kedge-tmp-*"))
    plan = [plan_cell(read_folder(pair), Shares(0.2, 0.8), PLAIN, seed, settings) for seed in (0, 1)]
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
def test_bad_input_of_compare_is_one_line(pair, tmp_path, words, said):
    words = [str(word).format(pair=pair) for word in words]
    result = kedge("compare", *words, "-q", "-o", tmp_path / "out", code=2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "choose one of: main"),
        (("sparsety",), "did you mean 'sparsity'"),
        (("sparsity", "-m", "xyz"), "choose from"),
        (("sparsity", "--points", "15"), "choose from: 10, 20"),
        (("sparsity", "--seeds", 0), "give 1 or more"),
        (("anchors", "--train", 0.5), "leave it out"),
        (("sparsity", "--source", "/nowhere.tsv"), "no network"),
        (("sparsity", "--data", "/nowhere"), "no such directory"),
    ],
)
def test_bad_input_of_reproduce_is_one_line(tmp_path, words, said):
    result = kedge("reproduce", *words, "-q", "-o", tmp_path / "out", code=2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_reproduce_writes_tables_and_figures_and_says_what_it_ran_on(pair, tmp_path):
    out = tmp_path / "out"
    words = [
        "reproduce",
        "overlap",
        "--quick",
        "--seeds",
        1,
        "-m",
        "evidence",
        "--source",
        pair / "left.tsv",
        "-o",
        out,
    ]
    said = json.loads(kedge(*words, "-q", "--json").stdout)
    assert said["source"] == "left.tsv"
    assert [entry["point"] for entry in said["entries"]] == ["10 %", "50 %", "90 %"]
    assert said["entries"][0]["method"] == "kedge"
    assert said["paper"]["place"] == "Table 2"
    page = (out / "overlap.md").read_text()
    assert "| MGCN, printed | 0.8779 | 0.9640 | 0.9630 |" in page
    first, paper = said["entries"][0]["summary"]["mean"]["macro_f1"], 0.8779
    assert f"| kedge − MGCN, printed | {first - paper:+.3f} |" in page
    assert {path.suffix for path in out.iterdir() if path.is_file()} == {".md", ".csv", ".json", ".png", ".svg"}
    drawn = {path.name: path.read_bytes() for path in out.glob("overlap.*")}
    result = kedge(*words, "-q")
    assert "on left.tsv, 1 seed" in " ".join(result.stdout.split())
    assert re.search(r"\(MGCN\) +\.878 +\.964 +\.963", result.stdout)
    assert all(len(line.rstrip()) <= 80 for line in result.stdout.splitlines() if not line.startswith("Everything"))
    assert {path.name: path.read_bytes() for path in out.glob("overlap.*")} == drawn, "the same cells, the same bytes"


def test_reproduce_main_without_data_says_that_it_is_planted(tmp_path, monkeypatch):
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path))
    monkeypatch.setattr("kedge.experiments.reproduce._QUICK_STAND_IN", _tiny_pair())
    out = tmp_path / "out"
    result = kedge("reproduce", "main", "--quick", "--seeds", 1, "-m", "evidence", "-o", out)
    assert "a planted pair stands in" in result.stderr
    assert "on a planted pair" in (out / "main.md").read_text()


def _tiny_pair():
    from kedge.experiments.cells import PlantedPair

    return PlantedPair(120, 90, 600, 0.7)


def test_efficiency_times_forward_passes_and_refuses_what_is_too_small(pair, tmp_path):
    small = Planting(120, 500)
    timed = measure_forward(Forward(small, 60, dimensions=8, rounds=1))
    assert timed.facts["accounts"] == 60
    assert all(timed.figures[name] > 0 for name in MODELS)
    refused = measure_forward(Forward(small, 130, dimensions=8, rounds=1))
    assert (refused.status, refused.reason) == ("refused", "the network has only 120 accounts")
    efficiency = EXPERIMENTS["efficiency"]
    for cell_found in (timed, refused):
        one = replace(cell_found, figures=None if cell_found.figures is None else {"forward_seconds": 2.0})
        entries = tuple(Entry(p.label, "GCN", summarise([one], ("forward_seconds",))) for p in efficiency.points)
        found = Reproduced(efficiency, "planted networks", 1, entries, ())
        assert draw_experiment(found, "svg").count(b"<svg") == 1
        assert ("2.00" if cell_found is timed else "only 120 accounts") in markdown_page(found)
