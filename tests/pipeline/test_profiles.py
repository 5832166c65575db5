"""Profiles from the inputs to the matches: the command line, Python, notes, and what a run keeps of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from command import kedge, kedge_code, match_words, plant

import kedge as package
from kedge.ingest import read_network, read_pairs

SECRETS = ("Atlantis", "Eldorado")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted pair with a city and the id of the person for each account."""
    place = plant(tmp_path_factory.mktemp("profiles"))
    truth = read_pairs(place / "anchors.tsv")
    left, right = (read_network(place / f"{side}.tsv")[0].ids.to_pylist() for side in ("left", "right"))
    rng = np.random.default_rng(0)
    city = {name: f"{SECRETS[name < 'a0001']}{rng.integers(30)}" for name in (*left, *right)}
    for one, other in zip(truth.first.to_pylist(), truth.second.to_pylist(), strict=True):
        city[other] = city[one]
    person = dict(zip(truth.second.to_pylist(), truth.first.to_pylist(), strict=True))
    for side, names in (("left", left), ("right", right)):
        rows = [f"{name},{city[name]},{person.get(name, name)},same,{name if side == 'left' else ''}" for name in names]
        (place / f"{side}.profiles.csv").write_text("id,city,person,constant,empty\n" + "\n".join([*rows, "zzz,x,y,,"]))
    return place


def _rows(path: Path) -> list[dict[str, str]]:
    pairs = read_pairs(path)
    return [{"left": u, "right": v} for u, v in zip(pairs.first.to_pylist(), pairs.second.to_pylist(), strict=True)]


def _profiles(pair: Path) -> list[object]:
    return ["--left-profiles", pair / "left.profiles.csv", "--right-profiles", pair / "right.profiles.csv"]


def _summary(pair: Path, out: Path, *more: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(kedge(*match_words(pair, out, "--json", "-q", *more)).stdout)
    return found


FIELDS = ("--set", 'profiles.fields=["city"]', "--method", "evidence")


def test_profiles_improve_a_match_and_no_value_is_in_the_run(pair: Path, tmp_path: Path) -> None:
    alone = _summary(pair, tmp_path / "alone", "--method", "evidence")
    both = _summary(pair, tmp_path / "both", *_profiles(pair), *FIELDS)
    assert both["metrics"]["mrr"] > alone["metrics"]["mrr"] + 0.02
    for file in (tmp_path / "both").rglob("*"):
        assert file.is_dir() or not any(secret.encode() in file.read_bytes() for secret in SECRETS), file
    again = _summary(pair, tmp_path / "both", *_profiles(pair), *FIELDS)
    assert again["metrics"] == both["metrics"], "resumed"
    refused = kedge_code(*match_words(pair, tmp_path / "both", "-q"))
    assert refused.exit_code == 2, "without profiles it is another run"


def test_the_default_method_reads_profiles_from_either_side(pair: Path) -> None:
    sources = [[pair / f"{side}.{kind}" for side in ("left", "right")] for kind in ("tsv", "profiles.csv")]
    given = [(anchor["left"], anchor["right"]) for anchor in _rows(pair / "train.tsv")]
    found = []
    for turn in (1, -1):
        networks, profiles = sources[0][::turn], sources[1][::turn]
        table = package.match(
            *networks,
            [known[::turn] for known in given],
            left_profiles=profiles[0],
            right_profiles=profiles[1],
            settings={"profiles.fields": ["city"]},
        ).table()
        names = ("left", "right")[::turn]
        matched = table.filter(pc.equal(table["decision"], "match"))
        found.append({(row[names[0]], row[names[1]]) for row in matched.to_pylist()})
    assert found[0] == found[1], "which network is called left has no effect"
    assert len(found[0]) > 20


def test_other_methods_state_that_they_do_not_read_profiles(pair: Path, tmp_path: Path) -> None:
    result = kedge(*match_words(pair, tmp_path / "c", *_profiles(pair), "--method", "common-neighbours"))
    assert "the method common-neighbours does not read profiles; kedge and evidence do" in result.stderr


def test_check_lists_the_fields_and_warns_of_the_answer(pair: Path) -> None:
    words = ["check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv", *_profiles(pair)]
    words += ["--compare", "city", "--compare", "person:hash", "--compare", "constant:category"]
    report = json.loads(kedge(*words, "--json", "-q").stdout)
    city, person, constant = report["fields"]
    assert (city["kind"], city["agreement"]) == ("category", 1.0)
    assert city["chance"] < 0.2
    assert city["filled_left"] == 1.0
    assert (person["answer"], city["answer"], constant["distinct"]) == (True, False, 1)
    notes = "\n".join(report["profile_notes"])
    for part in ("'person' is equal on all anchors", "'constant' has one value", "'empty' is empty in the right"):
        assert part in notes
    shown = kedge(*words)
    assert "agreement" in " ".join(shown.stdout.split())
    assert "1 of" in shown.stderr, "rows of unknown accounts are counted"
    assert not any(secret in shown.output for secret in SECRETS)


def test_profiles_of_one_side_alone_and_a_missing_column_are_one_line(pair: Path, tmp_path: Path) -> None:
    result = kedge_code(*match_words(pair, tmp_path / "r", *_profiles(pair)[:2]))
    assert (result.exit_code, "profiles of one network alone" in result.stderr) == (2, True)
    result = kedge_code(*match_words(pair, tmp_path / "r", *_profiles(pair), "--compare", "town~city"))
    assert (result.exit_code, "the left profiles have no column 'town'" in result.stderr) == (2, True)
    assert not (tmp_path / "r" / "manifest.json").exists()


def test_frames_in_python(pair: Path) -> None:
    frames = [pa.csv.read_csv(pair / f"{side}.profiles.csv") for side in ("left", "right")]
    found = package.match(
        pair / "left.tsv",
        pair / "right.tsv",
        pair / "train.tsv",
        left_profiles=frames[0],
        right_profiles=frames[1].to_pandas(),
        settings={"profiles.fields": ["city"], "method": "evidence"},
    )
    truth = read_pairs(pair / "test.tsv")
    best = dict(zip(found.table()["left"].to_pylist()[::-1], found.table()["right"].to_pylist()[::-1], strict=True))
    pairs = list(zip(truth.first.to_pylist(), truth.second.to_pylist(), strict=True))
    assert np.mean([best.get(one) == other for one, other in pairs]) > 0.7
