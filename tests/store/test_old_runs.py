"""Runs that earlier versions made, and one of today's format, work with every command.

Made with `kedge synth --nodes 60 --overlap 0.8 --seed 3 --train 0.5`, one by the default method with a confirmed and a
rejected pair, one by MGCN (in format 4 with `pairing.score=nearness`). Reports and locks were removed. Format 4 is from
before stages had ids and settings today's names, format 5 from before the manifest had a checksum and those of all
files; both are from before accounts had canonical numbers, and rows the order of ids. Format 6 is from before
probabilities were estimated from both sides.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge, match_words

from kedge.config import Config
from kedge.store import Artefacts, read_manifest
from kedge.store.layout import SETTINGS, STAGES
from kedge.store.manifest import FORMAT

ASSETS = Path(__file__).parents[1] / "assets"
PAIR = ASSETS / "run-format-4" / "pair"
FORMATS = (4, 5, 6, 7)
CONFIRMED, REJECTED = ("a000020", "b000007"), ("a000056", "b000018")
GIVEN = {
    "kedge": ["--set", "mgcn.dimensions=16", "--set", "candidates=5"],
    "mgcn": [
        *("--method", "mgcn", "--set", "mgcn.space=projected", "--set", "mgcn.steps=80"),
        *("--set", "mgcn.dimensions=16", "--set", "candidates=5"),
    ],
}


@pytest.fixture(params=GIVEN)
def method(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=FORMATS, ids=lambda number: f"format{number}")
def old(request: pytest.FixtureRequest) -> Path:
    return ASSETS / f"run-format-{request.param}"


@pytest.fixture
def run(tmp_path: Path, old: Path, method: str) -> Path:
    return Path(shutil.copytree(old / method, tmp_path / "run"))


def test_there_is_a_run_of_every_format() -> None:
    assert max(FORMATS) == FORMAT, "a run of the new format belongs to the assets"


def test_the_manifest_has_todays_stages_and_settings(run: Path, old: Path, method: str) -> None:
    assert json.loads((run / "manifest.json").read_text())["format"] == int(old.name[-1])
    manifest = read_manifest(run)
    assert manifest["stages"].keys() <= STAGES.keys()
    assert Config.model_validate(manifest["config"]).method == method
    chosen = Artefacts(run, manifest).load(SETTINGS)
    assert chosen.mgcn.space == ("projected" if method == "mgcn" else "shared"), "as it was before the setting"
    assert chosen.pairing.score == ("similarity" if method == "mgcn" else chosen.pairing.score)


def test_export_and_evaluate_give_what_that_version_gave(run: Path, old: Path, method: str, tmp_path: Path) -> None:
    kedge("export", run, "--candidates", 7, "-o", tmp_path / "out.parquet")
    found, expected = pq.read_table(tmp_path / "out.parquet"), pq.read_table(old / f"exported-{method}.parquet")
    expected = expected.sort_by([("left", "ascending"), ("rank", "ascending")])
    assert found.select(["left", "right", "rank"]).equals(expected.select(["left", "right", "rank"]))
    np.testing.assert_allclose(found["probability"], expected["probability"], atol=1e-5)
    before = json.loads((run / "metrics.json").read_text())
    after = json.loads(kedge("evaluate", run, "--test", PAIR / "test.tsv", "--json").stdout)
    assert {name: after[name] for name in ("hits10", "mrr", "ece")} == pytest.approx(
        {name: before[name] for name in ("hits10", "mrr", "ece")}
    )


def test_a_pair_is_explained_and_a_report_written(run: Path, method: str) -> None:
    said = kedge("explain", run, *CONFIRMED).stdout
    assert all(name in said for name in CONFIRMED)
    kedge("report", run)
    assert (run / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_an_account_is_purged(run: Path) -> None:
    kedge("purge", "--yes", run, CONFIRMED[0])
    assert "no left account" in kedge("explain", run, *CONFIRMED, code=2).stderr
    kedge("purge", "--yes", run, CONFIRMED[0], code=2)


def test_the_same_command_goes_on(run: Path, method: str) -> None:
    """Without new decisions every stage is loaded; with them, confirmed pairs become anchors."""
    before = read_manifest(run)
    score = ["--set", "pairing.score=similarity"] if method == "mgcn" else []
    words = match_words(PAIR, run, *GIVEN[method], *score)
    result = kedge(*words, "--json")
    summary = json.loads(result.stdout)
    after = read_manifest(run)
    assert json.loads((run / "manifest.json").read_text())["format"] == FORMAT
    if "all is computed again" in result.stderr:  # that version numbered the accounts in another way
        assert after["stages"]["left-network"]["sha256"] != before["stages"]["left-network"]["sha256"]
    elif method == "mgcn":
        assert after["stages"] == before["stages"], "nothing was computed again"
    else:
        assert summary["decisions"] == {"confirmed": 1, "rejected": 1}
        assert after["stages"]["scores"]["sha256"] != before["stages"]["scores"]["sha256"]
    other = kedge(*words, "--set", "seed=7", code=2).stderr
    assert "seed: 0 -> 7" in other
