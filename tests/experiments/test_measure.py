"""Cells and tables: what figures are keyed by, how they are made and how they are summed up."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_jobs import always_die, double, fail

from kedge.config import ReadConfig
from kedge.engine.fresh import Died, Fresh
from kedge.errors import KedgeError
from kedge.evaluation import metrics as evaluate
from kedge.experiments.cells import Cut, File, Pair, Planting, Shares, cell_key
from kedge.experiments.compare import Overrides, plan_cell
from kedge.experiments.measure import Measured, make_split, measure_cell, split_anchors
from kedge.experiments.paper import HALF, Variant
from kedge.experiments.tables import Entry, csv_text, markdown_table, shown, summarise
from kedge.methods import METHODS

SMALL = Planting(150, 900)
CUT = Cut(SMALL, 0.8, 0.8)
PLAIN = Variant("common-neighbours", "common-neighbours")


def cell(seed: int = 0, data: Any = CUT, shares: Any = HALF, variant: Any = PLAIN, settings: Any = ()) -> Any:
    return plan_cell(data, shares, variant, seed, Overrides(tuple(settings)))


# What a cell is


def test_cells_are_keyed_by_everything_that_changes_their_figures() -> None:
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


def test_cells_are_not_keyed_by_names_and_places() -> None:
    assert cell_key(cell(variant=Variant("another label", PLAIN.method))) == cell_key(cell())
    here, there = (Cut(File(place, "9"), 0.8, 0.8) for place in ("/here/n.tsv", "/there/m.tsv"))
    assert cell_key(cell(data=here)) == cell_key(cell(data=there))


def test_the_kind_of_a_source_is_part_of_the_key() -> None:
    """A planted network never passes for a file, whatever their fields are."""
    assert cell_key(Planting(1, 2)) != cell_key(Cut(Planting(1, 2), 0.5, 0.5))


# How anchors are dealt out


def test_held_out_anchors_stay_the_same_while_observed_ones_grow() -> None:
    anchors = np.column_stack([np.arange(200), np.arange(200)[::-1]])
    dealt = [split_anchors(anchors, Shares(share / 10, 0.1), seed=4) for share in range(1, 10)]
    for (few, held), (more, same) in pairwise(dealt):
        assert {tuple(p) for p in few} < {tuple(p) for p in more}
        assert (held == same).all()
    observed, held = dealt[-1]
    assert len(observed) == 180
    assert not {tuple(p) for p in observed} & {tuple(p) for p in held}
    assert (split_anchors(anchors, Shares(0.5, 0.5), 5)[1] != split_anchors(anchors, Shares(0.5, 0.5), 6)[1]).any()


def test_too_few_anchors_to_deal_out_are_refused() -> None:
    with pytest.raises(KedgeError, match="leave 0 to learn from"):
        split_anchors(np.array([[0, 0], [1, 1]]), Shares(0.1, 0.9), 0)


def test_every_method_meets_the_same_split_and_another_seed_another() -> None:
    splits = [make_split(Cut(SMALL, 0.8, 0.8), Shares(0.5, 0.5), seed, ReadConfig()) for seed in (0, 0, 1)]
    assert (splits[0].test == splits[1].test).all()
    assert (splits[0].problem.left.adjacency != splits[1].problem.left.adjacency).nnz == 0
    assert splits[0].problem.left.edges != splits[2].problem.left.edges


def test_a_held_out_account_without_edges_cannot_be_found(tmp_path: Path) -> None:
    for side in ("left", "right"):
        (tmp_path / f"{side}.tsv").write_text("".join(f"{i}\t{i + 1}\n" for i in range(9)))
    (tmp_path / "anchors.tsv").write_text("".join(f"{i}\t{i}\n" for i in range(10)) + "lone\tlone\n")
    files = [File(str(tmp_path / f"{name}.tsv"), "") for name in ("left", "right", "anchors")]
    for seed in range(20):
        split = make_split(Pair(*files), Shares(0.5, 0.5), seed, ReadConfig())
        lone = split.problem.left.find(["lone"])[0]
        assert lone not in split.test[:, 0]


# What is measured


def test_figures_are_those_of_the_one_evaluation_module() -> None:
    task = cell(variant=PLAIN)
    measured = measure_cell(task)
    split = make_split(task.data, task.shares, task.seed, ReadConfig())
    from kedge.config import Config

    alignment = METHODS[task.method].align(split.problem, Config.model_validate(dict(task.config)))
    ranking = evaluate.ranking(alignment, split.test)
    for name in ("hits1", "hits10", "mrr"):
        assert measured.figures[name] == ranking[name]
    assert 0.5 < measured.figures["macro_f1"] <= 1
    assert measured.facts["observed"] == len(split.problem.anchors)


def test_reach_helps_where_little_is_shared_and_is_kedges_alone() -> None:
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


def test_a_refusal_is_an_answer() -> None:
    measured = measure_cell(cell(variant=Variant("faq", "faq"), settings=("baselines.dense_cells=10",)))
    assert measured.status == "refused"
    assert measured.figures is None
    assert "\n" not in measured.reason
    assert len(measured.reason) > 10


# Mean and spread


def test_mean_and_spread_agree_with_a_hand_computed_oracle() -> None:
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


def test_one_seed_has_no_spread_and_failures_do_not_count() -> None:
    good = Measured("ok", "", {"mrr": 0.25}, None, 1.0, 1.0, 1.0)
    summary = summarise([good, Measured("refused", "too large"), Measured("refused", "too large")], ("mrr",))
    assert summary.seeds == 1
    assert summary.spread["mrr"] is None
    assert shown(summary, "mrr") == "0.250"
    assert summary.reason == "too large"
    assert shown(summarise([Measured("failed", "died")], ("mrr",)), "mrr") == "–"


def test_tables_say_the_same_in_markdown_and_csv() -> None:
    good = Measured("ok", "", {"macro_f1": 0.75}, None, 2.0, 1.0, 9.0)
    entry = Entry("10 %", "a|b, c", summarise([good], ("macro_f1",)), {"macro_f1": 0.7})
    rows = list(csv.DictReader(io.StringIO(csv_text([entry]))))
    assert rows[0] == {
        "point": "10 %", "method": "a|b, c", "metric": "macro_f1", "mean": "0.75", "spread": "",
        "seeds": "1", "paper": "0.7", "reason": "",
    }  # fmt: skip
    assert markdown_table(("m", "x"), [("a|b", "1")]).splitlines() == ["| m | x |", "|---|---:|", "| a\\|b | 1 |"]


# Processes


def test_every_job_has_a_process_of_its_own_and_a_death_is_reported() -> None:
    found = dict(Fresh(2).run(double, [1, 2, 3]))
    assert {place: value for place, (value, _) in found.items()} == {0: 2, 1: 4, 2: 6}
    assert len({process for _, process in found.values()}) == 3
    assert "killed" in dict(Fresh(1).run(always_die, [1]))[0].reason
    assert dict(Fresh(1).run(fail, [1]))[0] == Died("ValueError: no such thing")
