"""Profiles from the inputs to the matches: the command line, Python, notes, and what a run keeps of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from command import kedge, kedge_code, match_words, plant

import kedge as package
from kedge.ingest import read_network, read_pairs
from kedge.methods import mgcn
from kedge.store import (
    fingerprint,
    load_fields,
    load_problem,
    open_artefacts,
    open_vectors,
    read_manifest,
    run_config,
    write_manifest,
)

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


def test_profiles_improve_a_match_and_without_keep_no_value_is_in_the_run(pair: Path, tmp_path: Path) -> None:
    alone = _summary(pair, tmp_path / "alone", "--method", "evidence")
    given = (*_profiles(pair), *FIELDS, "--set", "profiles.keep=none")
    both = _summary(pair, tmp_path / "both", *given)
    assert both["metrics"]["mrr"] > alone["metrics"]["mrr"] + 0.02
    for file in (tmp_path / "both").rglob("*"):
        assert file.is_dir() or not any(secret.encode() in file.read_bytes() for secret in SECRETS), file
    again = _summary(pair, tmp_path / "both", *given)
    assert again["metrics"] == both["metrics"], "resumed"
    refused = kedge_code(*match_words(pair, tmp_path / "both", "-q"))
    assert refused.exit_code == 2, "without profiles it is another run"
    best = _surest(tmp_path / "both")
    found = json.loads(kedge("explain", tmp_path / "both", best["left"], best["right"], "--json").stdout)
    assert found["fields"] == []
    assert found["beside"] == "profiles"
    assert found["vectors"] != 0
    assert found["log_odds"] == pytest.approx(best["score"], abs=1e-3)


@pytest.fixture(scope="module")
def made(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that keeps the compared field."""
    run = tmp_path_factory.mktemp("kept") / "run"
    kedge(*match_words(pair, run, "-q", *_profiles(pair), *FIELDS))
    return run


def _surest(run: Path) -> dict[str, Any]:
    rows = pq.read_table(run / "matches.parquet").to_pylist()
    found: dict[str, Any] = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    return found


def test_a_run_keeps_the_compared_fields_and_explains_pairs_by_them(pair: Path, made: Path) -> None:
    for side in ("left", "right"):
        kept = made / "networks" / f"{side}_profiles.parquet"
        assert pq.read_table(kept).column_names == ["city"], "what is not compared is not kept"
        assert kept.stat().st_mode & 0o077 == 0
    best = _surest(made)
    other = next(row["right"] for row in _rows(pair / "anchors.tsv") if row["right"] != best["right"])
    cities = [dict(_cells(pair / f"{side}.profiles.csv")) for side in ("left", "right")]
    for right in (best["right"], other):
        found = json.loads(kedge("explain", made, best["left"], right, "--json").stdout)
        (field,) = found["fields"]
        assert (field["name"], field["left"], field["right"]) == ("city", cities[0][best["left"]], cities[1][right])
        assert field["similarity"] == (1.0 if field["left"] == field["right"] else 0.0)
        assert (field["weight"] > 0) == (field["similarity"] == 1)
        parts = [found["prior"], found["vectors"], field["weight"]]
        parts += [reason["weight"] for reason in found["hits"] + found["misses"]]
        assert found["log_odds"] == pytest.approx(sum(parts))
        assert found["steps"][0]["profiles"] == pytest.approx(field["weight"])
    found = json.loads(kedge("explain", made, best["left"], best["right"], "--json").stdout)
    assert found["vectors"] == 0, "profiles and vectors are apart"
    assert found["log_odds"] == pytest.approx(best["score"], abs=1e-3)
    text = kedge("explain", made, best["left"], best["right"]).stdout
    assert f"city, equal: {cities[0][best['left']]} ~ " in text


def test_an_export_carries_fields_of_both_sides(pair: Path, made: Path, tmp_path: Path) -> None:
    kedge("export", made, "-o", tmp_path / "out.parquet", "--fields", "city", "--all")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    cities = [dict(_cells(pair / f"{side}.profiles.csv")) for side in ("left", "right")]
    assert {row["decision"] for row in rows} >= {"known", "no match"}
    for row in rows:
        assert row["left_city"] == cities[0][row["left"]]
        assert row["right_city"] == (cities[1][row["right"]] if row["right"] else None)
    refused = kedge("export", made, "-o", tmp_path / "no.csv", "--fields", "cty", code=2)
    assert "did you mean 'city'?" in refused.stderr
    assert not (tmp_path / "no.csv").exists()


def test_values_in_a_csv_are_no_formulas(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made, tmp_path / "run"))
    table = pq.read_table(run / "networks" / "left_profiles.parquet")
    cells = pa.array(["=HYPERLINK(1)"] * table.num_rows, pa.large_string())
    file = run / "networks" / "left_profiles.parquet"
    pq.write_table(pa.table({"city": cells}), file)
    manifest = dict(read_manifest(run))
    with file.open("rb") as opened:
        manifest["stages"]["left-profiles"] |= fingerprint(opened)
    write_manifest(run, manifest)
    text = kedge("export", run, "-o", "-", "--fields", "city").stdout
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text


def test_the_report_has_what_each_field_is_worth(made: Path) -> None:
    page = (made / "report.html").read_text()
    assert "What profiles are worth" in page
    fitted = load_fields(open_artefacts(made))
    assert fitted is not None
    (row,) = fitted.as_rows()
    assert row["equal"] > 0 > row["different"]
    assert row["agreement"] > row["chance"]
    assert f"<td>{row['equal']:+.2f}</td><td>{row['different']:+.2f}</td>" in page


def test_a_purge_takes_the_values_of_an_account_too(made: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(made, tmp_path / "run"))
    problem = load_problem(open_artefacts(run))
    name = _surest(run)["left"]
    account = int(problem.left.find([name])[0])
    before = pq.read_table(run / "networks" / "left_profiles.parquet")["city"].to_pylist()
    kedge("purge", "--yes", run, name)
    after = pq.read_table(run / "networks" / "left_profiles.parquet")["city"].to_pylist()
    assert before[account] is not None
    assert after == [None if place == account else city for place, city in enumerate(before)]
    assert name.encode() not in (run / "report.html").read_bytes()
    best = _surest(run)
    found = json.loads(kedge("explain", run, best["left"], best["right"], "--json").stdout)
    assert found["fields"][0]["left"], "the run is whole"


def _cells(path: Path) -> list[tuple[str, str]]:
    return [(line.split(",")[0], line.split(",")[1]) for line in path.read_text().splitlines()]


def test_the_default_method_reads_profiles_from_either_side(pair: Path) -> None:
    sources = [[pair / f"{side}.{kind}" for side in ("left", "right")] for kind in ("tsv", "profiles.csv")]
    given = [(anchor["left"], anchor["right"]) for anchor in _rows(pair / "train.tsv")]
    found = []
    for turn in (1, -1):
        networks, profiles = sources[0][::turn], sources[1][::turn]
        run = package.match(
            *networks,
            [known[::turn] for known in given],
            left_profiles=profiles[0],
            right_profiles=profiles[1],
            settings={"profiles.fields": ["city"]},
        )
        table = pa.Table.from_pandas(run.to_frame())
        names = ("left", "right")[::turn]
        matched = table.filter(pc.equal(table["decision"], "match"))
        found.append({(row[names[0]], row[names[1]]) for row in matched.to_pylist()})
    assert found[0] == found[1], "which network is called left has no effect"
    assert len(found[0]) > 20


def test_other_methods_state_that_they_do_not_read_profiles(pair: Path, tmp_path: Path) -> None:
    result = kedge(*match_words(pair, tmp_path / "c", *_profiles(pair), "--method", "common-neighbours"))
    assert "the method common-neighbours does not read profiles; kedge, evidence, cosnet and bass do" in result.stderr


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
    rows = found.to_frame()
    best = dict(zip(rows["left"][::-1], rows["right"][::-1], strict=True))
    pairs = list(zip(truth.first.to_pylist(), truth.second.to_pylist(), strict=True))
    assert np.mean([best.get(one) == other for one, other in pairs]) > 0.7


DRAWN = ("--method", "mgcn", "--set", "hypergraph.builders=neighbourhood+profiles", "--set", 'profiles.fields=["city"]')
QUICK = ("--set", "mgcn.steps=20", "--set", "mgcn.dimensions=16", "--set", "pairing.score=cosine")


def test_mgcn_draws_hyperedges_from_profiles_and_purge_removes_an_account_from_them(pair: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    projected = ("--set", "mgcn.space=projected")
    said = kedge(*match_words(pair, out, *QUICK, *DRAWN, *projected, *_profiles(pair))).stderr
    assert "does not read profiles" not in said
    assert not list((out / "networks").glob("*profiles*"))  # which accounts share a value, and no value
    problem = load_problem(open_artefacts(out))
    drawn = problem.shared_values[0]
    assert drawn is not None
    assert problem.profiles is None
    # Two accounts of one city share a column, in whatever order the run has them.
    rows = [row.split(",") for row in (pair / "left.profiles.csv").read_text().splitlines()[1:-1]]
    city = {row[0]: row[1] for row in rows}
    named = [city[problem.left.name(u)] for u in range(problem.left.n)]
    together = (drawn.H @ drawn.H.T).toarray() > 0
    assert np.array_equal(together, np.array([[one == other for other in named] for one in named]))
    # The same vectors are found again: what they depend on is in the run.
    config, ordered = run_config(read_manifest(out)), problem.mirrored() if problem.exchanged else problem
    assert mgcn.recall_vectors(ordered, config, open_vectors(open_artefacts(out))) is not None
    account = problem.left.name(5)
    kedge("purge", "--yes", out, account)
    after = load_problem(open_artefacts(out)).shared_values[0]
    assert after is not None
    assert after.H[[5]].nnz == 0
    assert after.H.nnz == drawn.H.nnz - drawn.H[[5]].nnz


def test_hyperedges_of_profiles_need_profiles(pair: Path, tmp_path: Path) -> None:
    said = kedge(*match_words(pair, tmp_path / "run", "-q", *QUICK, *DRAWN[:4]), code=2).stderr
    assert said.count("\n") == 1
    assert "hypergraph.builders has profiles, and no profiles are given" in said
    assert "--left-profiles" in said
    said = kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.npz", *DRAWN[2:4], code=2).stderr
    assert "no profiles are given; give them (--profiles)" in said
    assert not (tmp_path / "v.npz").exists()
    # A method that draws no hyperedges has nothing to do with it.
    kedge(*match_words(pair, tmp_path / "evidence", "--method", "evidence", *DRAWN[2:4]))


def test_embed_draws_hyperedges_from_profiles_in_any_order_of_the_rows(pair: Path, tmp_path: Path) -> None:
    small = {"mgcn.steps": 20, "mgcn.dimensions": 8, "profiles.fields": ("city",)}
    settings = {**small, "hypergraph.builders": "neighbourhood+profiles"}
    given = pair / "left.profiles.csv"
    first = package.embed(pair / "left.tsv", profiles=given, settings=settings)
    rows = given.read_text().splitlines()
    (tmp_path / "turned.csv").write_text("\n".join([rows[0], *rows[:0:-1]]))
    again = package.embed(pair / "left.tsv", profiles=tmp_path / "turned.csv", settings=settings)
    assert np.array_equal(again.vectors, first.vectors)
    plain = package.embed(pair / "left.tsv", settings=small)
    assert first.fit.hyperedges[0]["hyperedges"] > plain.fit.hyperedges[0]["hyperedges"]
    assert not np.array_equal(first.vectors, plain.vectors)
    words = ("embed", pair / "left.tsv", "-o", tmp_path / "v.npz", "--profiles", given, *QUICK[:4])
    assert "profiles are not used" in kedge(*words).stderr


@pytest.mark.parametrize("order", [1, -1], ids=["as they are", "exchanged"])
def test_columns_of_other_names_are_compared_whichever_network_is_the_larger(pair: Path, order: int) -> None:
    sides = ["left", "right"][::order]
    tables = []
    for side, name in zip(sides, ("town", "location"), strict=True):
        rows = [row.split(",") for row in (pair / f"{side}.profiles.csv").read_text().splitlines()[1:-1]]
        tables.append(pa.table({"id": [row[0] for row in rows], name: [row[1] for row in rows]}))
    left, right = (pair / f"{side}.tsv" for side in sides)
    known = [(row["left"], row["right"])[::order] for row in _rows(pair / "train.tsv")]
    given = {"left_profiles": tables[0], "right_profiles": tables[1]}
    settings = {"method": "evidence", "profiles.compare": ("town~location:category",)}
    linker = package.Linker(settings=settings).fit((left, right), known, profiles=tuple(given.values()))
    assert linker.run_.settings.profiles.compare == ("town~location:category",)
    alone = package.match(left, right, known, settings={"method": "evidence"})
    assert (linker.matches_.decision == 2).sum() > sum(row.decision == "match" for row in alone.matches)
