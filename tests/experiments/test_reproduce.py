"""`kedge reproduce`: declared experiments, the paper's printed figures, and what stands in without data."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import kedge, plant

from kedge.errors import KedgeError
from kedge.experiments.cells import PLANTED, Planting, data_root, find_network
from kedge.experiments.forward import MODELS, Forward, measure_forward
from kedge.experiments.pages import markdown_page
from kedge.experiments.paper import EXPERIMENTS, MACRO, published
from kedge.experiments.plots import draw_experiment
from kedge.experiments.reproduce import Reproduced
from kedge.experiments.tables import Entry, summarise
from kedge.methods import METHODS


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("pair") / "data")


def test_every_experiment_names_known_methods_and_points() -> None:
    for experiment in EXPERIMENTS.values():
        labels = [point.label for point in experiment.points]
        assert len(set(labels)) == len(labels)
        assert set(experiment.quick) <= set(labels)
        assert {variant.method for variant in experiment.variants} <= METHODS.keys()
        assert {"place", "note", "points"} <= published()[experiment.name].keys()


def test_printed_figures_are_whole() -> None:
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


def test_without_data_a_planted_network_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_bad_input_of_reproduce_is_one_line(tmp_path: Path, words: Any, said: str) -> None:
    result = kedge("reproduce", *words, "-q", "-o", tmp_path / "out", code=2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_reproduce_writes_tables_and_figures_and_names_its_source(pair: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "reproduce",
        "overlap",
        "--quick",
        "--seeds",
        1,
        "-m",
        "kedge",
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


def test_reproduce_main_without_data_notes_that_it_is_planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path))
    monkeypatch.setattr("kedge.experiments.reproduce._QUICK_PAIR", _tiny_pair())
    out = tmp_path / "out"
    result = kedge("reproduce", "main", "--quick", "--seeds", 1, "-m", "kedge", "-o", out)
    assert "a planted pair is used instead" in result.stderr
    assert "on a planted pair" in (out / "main.md").read_text()


def _tiny_pair() -> Any:
    from kedge.experiments.cells import PlantedPair

    return PlantedPair(120, 90, 600, 0.7)


def test_efficiency_times_forward_passes_and_refuses_what_is_too_small(pair: Path, tmp_path: Path) -> None:
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
