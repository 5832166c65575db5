"""`kedge pseudonymise`: copies without names, a key that is kept apart, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import kedge

from kedge.ingest import read_network


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two networks, anchors, profiles and a key."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "left.tsv").write_text("Zoë\tbob\nbob\t=1+1\nZoë\t=1+1\n")
    (folder / "right.csv").write_text('from,to,weight,when\nx,y,2,monday\n"y, z",x,0.5,monday\n')
    (folder / "known.csv").write_text('left,right\nZoë,x\n\'=1+1,"y, z"\n')  # with the guard of an export
    (folder / "people.csv").write_text(
        'id,Email,contact,name,city\nZoë,ZOE@example.org ,+49 30 1,Zoë W.,Bonn\nbob,,,,\n=1+1,NA,030 2,"B, W",\n'
    )
    kedge("pseudonymise", "--new-key", tmp_path / "key")
    return folder


def _copy(data: Path, *more: object, code: int = 0) -> Any:
    words = (data / "left.tsv", data / "right.csv", "-a", data / "known.csv", "--profiles", data / "people.csv")
    place = data.parent
    return kedge("pseudonymise", *words, "--key", place / "key", "-o", place / "out", *more, code=code)


def _rows(path: Path) -> list[list[str]]:
    return [
        line.replace('"', "").split("\t" if path.suffix == ".tsv" else ",") for line in path.read_text().split("\n")
    ]


def test_ids_map_consistently_and_no_name_is_left(data: Path, tmp_path: Path) -> None:
    result = _copy(data, "--fields", "Email,contact:phone", "--drop", "city", "--map", tmp_path / "map.csv")
    left, right, known, people = (
        _rows(tmp_path / "out" / name) for name in ("left.tsv", "right.csv", "known.csv", "people.csv")
    )
    left_ids = {cell for row in left[1:-1] for cell in row}
    assert [left[0], right[0], known[0]] == [["source", "target"], ["source", "target", "weight"], ["left", "right"]]
    assert len(left_ids) == 3
    assert {row[0] for row in people[1:-1]} == left_ids
    assert {row[0] for row in known[1:-1]} < left_ids
    assert {row[1] for row in known[1:-1]} < {cell for row in right[1:-1] for cell in row[:2]}
    assert {row[2] for row in right[1:-1]} == {"2", "0.5"}
    assert people[0] == ["id", "Email", "contact"]
    assert sorted(len(row[1]) for row in people[1:-1]) == [0, 0, 32]
    assert left[1:-1] == sorted(left[1:-1])  # the order of rows gives nothing away
    secret = (tmp_path / "key").read_text().strip()
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir()) + (tmp_path / "map.csv").read_text()
    assert secret not in written + result.output
    copies = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert not any(name in copies for name in ("Zo", "bob", "Bonn", "monday", "example", "=1"))
    assert "people.csv: dropped: name\n" in result.stderr
    assert "right.csv: dropped: when" in result.stderr
    assert "1 of 2 distinct values of 'contact' have no country code" in result.stderr


def test_a_map_puts_the_ids_back_into_a_crosswalk(data: Path, tmp_path: Path) -> None:
    _copy(data, "--map", tmp_path / "map.csv")
    assert (tmp_path / "map.csv").stat().st_mode & 0o777 == 0o600
    words = ("pseudonymise", "--reverse", tmp_path / "map.csv", tmp_path / "out" / "known.csv", "-o", tmp_path / "back")
    kedge(*words)
    back = (tmp_path / "back" / "known.csv").read_text().splitlines()
    assert back[0] == "left,right"
    assert sorted(back[1:]) == ['"\'=1+1","y, z"', '"Zoë","x"']
    assert "exists already" in kedge(*words, code=2).stderr
    kedge(*words, "--raw", "--force")
    assert '"=1+1"' in (tmp_path / "back" / "known.csv").read_text()
    pq.write_table(pa.table({"left": ["?"], "right": ["?"]}), tmp_path / "other.parquet")
    other = kedge(
        "pseudonymise", "--reverse", tmp_path / "map.csv", tmp_path / "other.parquet", "-o", tmp_path / "b", code=2
    )
    assert "has no pseudonym of this map" in other.stderr
    assert not (tmp_path / "b").exists()


def test_formats_stay_and_networks_are_the_same(data: Path, tmp_path: Path) -> None:
    import gzip

    with gzip.open(tmp_path / "packed.tsv.gz", "wt") as file:
        file.write((data / "left.tsv").read_text())
    (tmp_path / "spaces.txt").write_text("# a comment\nZoë  bob\nbob =1+1\nZoë =1+1\n")
    edges = {"a": ["Zoë", "bob", "Zoë"], "b": ["bob", "=1+1", "=1+1"]}
    pq.write_table(pa.table(edges), tmp_path / "left.parquet")
    words = [tmp_path / name for name in ("packed.tsv.gz", "spaces.txt", "left.parquet")]
    kedge("pseudonymise", data / "left.tsv", *words, "--key", tmp_path / "key", "-o", tmp_path / "out")
    networks = [read_network(tmp_path / "out" / name.name)[0] for name in (data / "left.tsv", *words)]
    assert all(network.ids.equals(networks[0].ids) for network in networks)
    assert all((network.adjacency != networks[0].adjacency).nnz == 0 for network in networks)
    assert (tmp_path / "out" / "packed.tsv.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_what_is_not_safe_is_refused_and_nothing_is_written(data: Path, tmp_path: Path) -> None:
    key, out = tmp_path / "key", tmp_path / "out"
    (tmp_path / "short").write_text("secret")
    (tmp_path / "guess.csv").write_text("alpha,beta,gamma\na,b,1\nc,d,2\n")
    left = data / "left.tsv"
    for words, problem in {
        (left, "-o", out): "no key",
        (left, "--key", key): "nothing to copy",
        (left, "--key", tmp_path / "short", "-o", out): "a key of 6 bytes",
        (left, "--key", key, "-o", tmp_path): "the key is in the directory of the copies",
        (left, "--key", key, "-o", out, "--map", out / "map.csv"): "the map is in the directory",
        (left, "--key", key, "-o", data, "--force"): "is an input itself",
        (left, "--key", key, "-o", out, "--map", key, "--force"): "is an input itself",
        (left, "--key", key, "-o", out, "--map", tmp_path / "short"): "exists already",
        (left, left, "--key", key, "-o", out): "two files are called left.tsv",
        (left, tmp_path / "guess.csv", "--key", key, "-o", out): "which of its columns hold ids is not clear",
        (left, "--key", key, "-o", out, "--fields", "emial"): "no profiles have a field 'emial'",
        (left, "--key", key, "-o", out, "--fields", "a:fax"): "no form 'fax'",
        (left, "--key", key, "-o", out, "--fields", "a", "--keep", "a"): "field 'a' is named twice",
        ("--new-key", key): "never overwritten",
        ("--new-key", key, "--force"): "never overwritten",
        (left, "--new-key", tmp_path / "k2"): "a key and nothing else",
    }.items():
        result = kedge("pseudonymise", *words, code=2)
        assert problem in result.stderr, words
        assert "secret" not in result.stderr
    assert not out.exists()
    assert not (tmp_path / "k2").exists()
    kedge("pseudonymise", tmp_path / "guess.csv", "--key", key, "-o", out, "--columns", "alpha,beta")


def test_a_key_that_others_can_read_is_noted(data: Path, tmp_path: Path) -> None:
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert len((tmp_path / "key").read_text()) == 65
    assert "others may read" not in _copy(data).stderr
    (tmp_path / "key").chmod(0o644)
    assert "others may read the key" in _copy(data, "--force").stderr


def test_help_states_that_a_graph_without_names_is_not_anonymous() -> None:
    assert "A graph without names is not anonymous" in " ".join(kedge("pseudonymise", "--help").stdout.split())


def test_two_sides_with_one_key_match_as_with_plain_equality(tmp_path: Path) -> None:
    """Both sides on their own, fields hashed; next to the same fields in plain text, compared for equality."""
    data = tmp_path / "data"
    kedge("synth", "-o", data, "--nodes", 100, "--overlap", 0.6, "--profiles", "easy", "--seed", 2, "-q")
    kedge("pseudonymise", "--new-key", tmp_path / "key")
    for side in ("left", "right"):
        files = (data / f"{side}.tsv", "--profiles", data / f"{side}.profiles.csv", "--key", tmp_path / "key", "-q")
        kedge("pseudonymise", *files, "-o", tmp_path / "hashed", "--fields", "handle,name,city")
        kedge("pseudonymise", *files, "-o", tmp_path / "plain", "--keep", "handle,name,city")
    anchors = ("-a", data / "train.tsv", "-a", data / "test.tsv")
    kedge("pseudonymise", *anchors, "--key", tmp_path / "key", "-o", tmp_path / "pairs", "-q")

    def words(command: str, folder: str) -> list[object]:
        files = [tmp_path / folder / name for name in ("left.tsv", "right.tsv")]
        profiles = [tmp_path / folder / f"{side}.profiles.csv" for side in ("left", "right")]
        names = ("--left-profiles", profiles[0], "--right-profiles", profiles[1], "--json", "-q")
        kinds = [w for name in ("handle", "name", "city") for w in ("--compare", f"{name}~{name}:hash")]
        more = kinds if folder == "plain" else []
        return [command, *files, "-a", tmp_path / "pairs" / "train.tsv", *names, *more]

    hashed, plain = (json.loads(kedge(*words("check", folder)).stdout)["fields"] for folder in ("hashed", "plain"))
    assert hashed == plain  # kinds, agreement on anchors and by chance
    assert {field["kind"] for field in hashed} == {"hash"}
    test = ("--test", tmp_path / "pairs" / "test.tsv", "-o", tmp_path / "run", "--method", "evidence")
    metrics = json.loads(kedge(*words("match", "hashed"), *test, "--set", "pairing.use=no").stdout)["metrics"]
    assert metrics["mrr"] > 0.9
