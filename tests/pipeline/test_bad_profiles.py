"""Profiles that are wrong in any usual way: one line each, and nothing else is lost by it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from command import kedge, match_words, plant

from kedge.ingest import read_network, read_pairs

FORMS = ("{y}-03-{d:02d}", "{d:02d}/03/{y}", "{d} March {y}", "{y}-03-{d:02d}T12:00:00Z")
Write = Callable[..., list[object]]
Row = Callable[[str, str, str], str]  # side, id, person


def drawn(text: str, count: int) -> int:
    return int(md5(text.encode()).hexdigest(), 16) % count


def city(person: str) -> str:
    return f"c{drawn(person, 15)}"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("bad") / "data")


@pytest.fixture(scope="module")
def write(pair: Path) -> Write:
    """Writes the profiles of both sides; the options that read them."""
    truth = read_pairs(pair / "anchors.tsv")
    person = dict(zip(truth.second.to_pylist(), truth.first.to_pylist(), strict=True))
    ids = {side: read_network(pair / f"{side}.tsv")[0].ids.to_pylist() for side in ("left", "right")}

    def written(folder: Path, head: str, row: Row, more: str = "", encoding: str = "utf-8") -> list[object]:
        words: list[object] = []
        for side, names in ids.items():
            rows = [row(side, name, name if side == "left" else person.get(name, f"{name}x")) for name in names]
            path = folder / f"{side}.profiles.csv"
            path.write_bytes("\n".join([head, *rows, more.replace("FIRST", names[0])]).encode(encoding))
            words += [f"--{side}-profiles", path]
        return words

    return written


def test_nothing_is_lost_by_what_is_noted(pair: Path, write: Write, tmp_path: Path) -> None:
    """Unknown and repeated accounts, fields of one side and of one value, 10 MB, markup, dates in several forms."""

    def dirty(side: str, name: str, person: str) -> str:
        bio = f"<script>alert({drawn(person, 99)})</script> =cmd() likes {city(person)} most of all things"
        bio += " word" * 2_200_000 if name.endswith("77") else ""  # 11 MB
        joined = FORMS[drawn(name, 4)].format(y=2010 + drawn(person, 10), d=1 + drawn(person + "d", 28))
        return f"{name},{city(person)},same,{name if side == 'left' else ''},{bio},{joined}"

    more = "nobody,Atlantis,same,,,\nFIRST,Atlantis,same,,,\n"
    given = write(tmp_path, "id,city,constant,alone,bio,joined", dirty, more)
    done = kedge(*match_words(pair, tmp_path / "run", "--method", "evidence", *given))
    lines = done.stderr.splitlines()
    for side in ("left", "right"):
        assert (
            sum(f"{side} profiles: 1 of 152 rows are of accounts in no edge or anchor" in line for line in lines) == 1
        )
        assert sum(f"{side} profiles: 1 rows name an account again" in line for line in lines) == 1
    for note in (
        "the field 'alone' is empty in the right profiles: it is not compared",
        "the field 'constant' has one value throughout: it is worth nothing",
        "values of more than 20,000 characters are compared by their beginning: bio",
    ):
        assert sum(note in line for line in lines) == 1
    assert "Atlantis" not in done.stderr + done.stdout
    # The value of the first row counts, and so do all good fields: dates and texts agree on every pair.
    kept = pq.read_table(tmp_path / "run" / "networks" / "left_profiles.parquet")
    assert "Atlantis" not in kept["city"].to_pylist()
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "<script>alert(" not in page
    checked = kedge("check", pair / "left.tsv", pair / "right.tsv", "-a", pair / "train.tsv", *given).stdout
    row = next(line for line in checked.splitlines() if line.strip().startswith("joined"))
    assert row.split()[1] == "date"
    assert row.split()[-2] == "100.0%"


def test_a_field_that_is_the_answer_is_warned_of(pair: Path, write: Write, tmp_path: Path) -> None:
    given = write(tmp_path, "id,person", lambda _side, name, person: f"{name},{person}")
    done = kedge(*match_words(pair, tmp_path / "run", "--method", "evidence", *given))
    assert sum("is it the answer itself?" in line for line in done.stderr.splitlines()) == 1
    truth = dict(line.split("\t") for line in (pair / "anchors.tsv").read_text().splitlines())
    table = pq.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    best = [row for row in table if row["rank"] == 1 and row["left"] in truth]
    assert all(truth[row["left"]] == row["right"] for row in best), "what is equal and unique finds everyone"


@pytest.mark.parametrize(
    ("head", "row", "encoding", "line"),
    [
        ("id,city", lambda _s, n, p: f"{n},Zürich {city(p)}", "latin-1", "left.profiles.csv:2: is not valid UTF-8"),
        ("id,straße", lambda _s, n, p: f"{n},{city(p)}", "latin-1", "left.profiles.csv:1: is not valid UTF-8"),
        (
            "id,face",
            lambda _s, n, p: f"{n},{' '.join('1' * (4 + (drawn(n, 9) == 0)))}",
            "utf-8",
            "the field 'face': vectors of unequal length: 4 and 5 numbers",
        ),
        ("id,city", lambda _s, n, p: f"zz{n},{city(p)}", "utf-8", "no row is of an account of this network"),
    ],
    ids=["values in latin-1", "names in latin-1", "vectors", "unknown accounts alone"],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    pair: Path, write: Write, tmp_path: Path, head: str, row: Row, encoding: str, line: str
) -> None:
    given = write(tmp_path, head, row, encoding=encoding)
    for words in (
        match_words(pair, tmp_path / "run", "-q", *given),
        ["check", pair / "left.tsv", pair / "right.tsv", "-q", *given],
    ):
        done = kedge(*words, code=2)
        assert line in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert not (tmp_path / "run" / "networks").exists()
