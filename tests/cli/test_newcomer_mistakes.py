"""Plausible mistakes of a newcomer: each is answered in one line with the right cause and a remedy.

A mistake is a line of `MISTAKES`: the command, and the words that its answer must have. {d} is a folder with a planted
pair (left.csv, right.csv, known.csv, held.csv) and files made wrong on purpose, {run} a finished run, {new} a
name that is not there yet. Commands that go through with a note are in `NOTED`: what is noted there is doubtful, not
wrong.
"""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from pathlib import Path

import command_lines
import pytest
from command import kedge

_PAIR = "{d}/left.csv {d}/right.csv"
_MATCH = f"match {_PAIR} -o {{new}} -a"

MISTAKES: dict[str, tuple[str, tuple[str, ...]]] = {
    "anchors given first": (
        "match {d}/known.csv {d}/left.csv -a {d}/right.csv -o {new}",
        ("left network", "looks like a list of anchors", "give the two networks first"),
    ),
    "networks in the other order": (
        "match {d}/right.csv {d}/left.csv -a {d}/known.csv -o {new}",
        ("columns look swapped", "exchange the two columns, or the two networks"),
    ),
    "anchors as right,left": (f"{_MATCH} {{d}}/exchanged.csv", ("columns look swapped", "exchange the two columns")),
    "a network given as anchors": (f"{_MATCH} {{d}}/left.csv", ("left.csv", "left network", "looks like a network")),
    "a missing file": ("match {d}/lfet.csv {d}/right.csv -a {d}/known.csv -o {new}", ("no such file", "left.csv")),
    "a directory": ("match {d} {d}/right.csv -a {d}/known.csv -o {new}", ("is a directory", "file inside it")),
    "a workbook": (f"{_MATCH} {{d}}/known.xlsx", ("known.xlsx", "workbook", "save its sheet as CSV")),
    "a packed folder": ("check {d}/all.zip {d}/right.csv", ("zip archive", "unpack")),
    "a JSON object": ("check {d}/settings.json {d}/right.csv", ("settings.json", "JSON", "one object per line")),
    "a web page": ("check {d}/page.csv {d}/right.csv", ("web page", "download the file itself")),
    "the wrong separator": (
        f"{_MATCH} {{d}}/known.csv --set read.delimiter=;",
        ("one column", "delimiter ';'", "read.delimiter"),
    ),
    "one column": (f"{_MATCH} {{d}}/single.csv", ("one column where two are needed", "separate the two ids")),
    "anchors in capitals": (f"{_MATCH} {{d}}/capitals.csv", ("match if case is ignored", "write ids alike")),
    "integers with .0": (
        "check {d}/numbers.csv {d}/numbers.csv -a {d}/floats.csv",
        ("match if a final .0 is ignored", "'1.0' is '1'"),
    ),
    "zeros lost": (
        "check {d}/zeros.csv {d}/zeros.csv -a {d}/lost.csv",
        ("match if leading zeros are ignored", "'7' is '007'"),
    ),
    "handles with @": (f"{_MATCH} {{d}}/at.csv", ("match if a leading @ is ignored", "write ids alike")),
    "empty anchors": (f"{_MATCH} {{d}}/empty.csv", ("empty.csv", "is empty", "one edge or pair per line")),
    "a header and no anchors": (f"{_MATCH} {{d}}/heading.csv", ("heading.csv", "no rows", "at least one")),
    "no anchors at all": (f"match {_PAIR} -o {{new}}", ("no anchors", "--anchors", "--left-profiles")),
    "one account, two partners": (f"{_MATCH} {{d}}/twice.csv", ("contradicts another", "read.contradictory=drop")),
    "no run directory": (f"match {_PAIR} -a {{d}}/known.csv", ("missing option", "--out", "kedge match --help")),
    "another run's directory": (
        "match {d}/right.csv {d}/left.csv -a {d}/exchanged.csv -o {run}",
        ("{run}", "left", "other", "--force"),
    ),
    "a file as run directory": (f"match {_PAIR} -a {{d}}/known.csv -o {{d}}/known.csv", ("known.csv", "directory")),
    "a method with a typo": (
        f"{_MATCH} {{d}}/known.csv --method percolaton",
        ("percolaton", "did you mean 'percolation'"),
    ),
    "a command with a typo": ("macth {d}/left.csv", ("macth", "match")),
    "an option with a typo": (f"{_MATCH} {{d}}/known.csv --metod kedge", ("--metod", "--method")),
    "a setting with a typo": (
        f"{_MATCH} {{d}}/known.csv --set decide.precison=0.9",
        ("did you mean 'decide.precision'",),
    ),
    "a preset with a typo": (f"{_MATCH} {{d}}/known.csv --preset papr", ("papr", "did you mean 'paper'")),
    "precision in percent": ("decide {run} --precision 95", ("95", "did you mean 0.95")),
    "threshold in percent": ("decide {run} --threshold 90", ("90", "did you mean 0.9")),
    "precision in percent, as a setting": (
        f"{_MATCH} {{d}}/known.csv --set decide.precision=95",
        ("decide.precision = 95", "did you mean 0.95"),
    ),
    "anchors as test pairs": (
        f"{_MATCH} {{d}}/known.csv --test {{d}}/known.csv",
        ("every test pair is an anchor too", "hold out other pairs"),
    ),
    "an unknown account": (
        "explain {run} nobody_at_all nobody_else",
        ("no left account 'nobody_at_all'", "check the id"),
    ),
    "an account of the other side": ("explain {run} {right} {left}", ("the other network has it", "exchange")),
    "an account in capitals": ("explain {run} {LEFT} {right}", ("{LEFT}", "did you mean '{left}'")),
    "a folder that is no run": ("report {d}", ("is no run", "kedge match -o")),
    "a file that is no run": ("report {d}/left.csv", ("left.csv", "kedge match")),
    "the run in place of the data": (
        "match {run} {run} -a {d}/known.csv -o {new}",
        ("is a directory", "file inside it"),
    ),
    "a column that is not there": (
        f"{_MATCH} {{d}}/known.csv --columns from,to",
        ("no column 'from'", "source, target"),
    ),
    "dates in place of ids": ("check {d}/dates.csv {d}/right.csv", ("holds dates, not accounts", "--columns")),
    "bad rows": ("check {d}/ragged.csv {d}/right.csv", ("ragged.csv:4", "columns", "--skip-bad-rows")),
    "a table of many": ("check {d}/all.db {d}/right.csv", ("2 tables", "all.db::")),
    "profiles of one side": (
        f"{_MATCH} {{d}}/known.csv --left-profiles {{d}}/people.csv",
        ("profiles of one network alone", "give profiles of both"),
    ),
    "profiles of the other side": (
        f"{_MATCH} {{d}}/known.csv --left-profiles {{d}}/people.csv --right-profiles {{d}}/people.csv",
        ("no row is of an account of this network", "sides swapped"),
    ),
    "export without a name": ("export {run}", ("missing option", "--out")),
    "export as .doc": ("export {run} -o {new}.doc", (".doc", "csv", "xlsx")),
    "export into a file that is there": ("export {run} -o {d}/known.csv", ("known.csv", "exists", "--force")),
    "stdin for two inputs": ("check - -", ("stdin",)),
}

NOTED: dict[str, tuple[str, tuple[str, ...]]] = {
    "the same file twice": ("check {d}/left.csv {d}/left.csv", ("the left and the right network are the same",)),
    "spaces around ids": (f"check {_PAIR} -a {{d}}/spaced.csv", ("found",)),
    "a few anchors in capitals": (
        f"check {_PAIR} -a {{d}}/partly.csv",
        ("match if case is ignored", "write them alike"),
    ),
    "a database called .csv": ("check {d}/database.csv {d}/right.csv", ("database.csv is SQLite by its content",)),
    "JSON lines called .csv": ("check {d}/lines.csv {d}/right.csv", ("lines.csv is JSON by its content",)),
    "bad rows, skipped": (
        "check {d}/ragged.csv {d}/right.csv --skip-bad-rows",
        ("2 bad rows were skipped (lines 4, 6)", "has 1 columns"),
    ),
    "test pairs among the anchors": (
        f"match {_PAIR} -a {{d}}/known.csv --test {{d}}/all.csv -o {{new}} --method common-neighbours",
        ("test pairs are anchors too",),
    ),
    "weights that are not read": (
        "match {d}/weighted.csv {d}/right.csv -a {d}/known.csv -o {new} --method common-neighbours",
        ("the left network has weights", "the method common-neighbours ignores"),
    ),
    "an engine for a method that trains nothing": (
        f"{_MATCH} {{d}}/known.csv --method common-neighbours --max-memory 2GB",
        ("no effect on the method common-neighbours", "engine.max_memory_mb"),
    ),
}


@pytest.fixture(scope="module")
def folder(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The planted pair as CSV with readable ids, and every file that is made wrong on purpose."""
    made = tmp_path_factory.mktemp("newcomer")
    marks = {"left": "aa", "right": "xx", "train": "ax", "test": "ax"}

    def read(name: str) -> list[tuple[str, ...]]:
        listed = [line.split("\t") for line in (pair / f"{name}.tsv").read_text().splitlines()[1:]]
        return [(marks[name][0] + row[0], marks[name][1] + row[1]) for row in listed]

    rows = {name: read(name) for name in marks}
    known = rows["train"]

    def write(name: str, header: str, listed: list[tuple[str, ...]]) -> None:
        (made / name).write_text("\n".join([header, *map(",".join, listed)]) + "\n")

    write("left.csv", "source,target", rows["left"])
    write("right.csv", "source,target", rows["right"])
    write("weighted.csv", "source,target,weight", [(a, b, str(1 + i % 7)) for i, (a, b) in enumerate(rows["left"])])
    write("known.csv", "left,right", known)
    write("held.csv", "left,right", rows["test"])
    write("all.csv", "left,right", known + rows["test"])
    write("exchanged.csv", "left,right", [(b, a) for a, b in known])
    write("capitals.csv", "left,right", [(a.upper(), b.upper()) for a, b in known])
    write("partly.csv", "left,right", [(a.upper(), b.upper()) if i < 5 else (a, b) for i, (a, b) in enumerate(known)])
    write("spaced.csv", "left,right", [(f" {a}", f"{b}  ") for a, b in known])
    write("at.csv", "left,right", [(f"@{a}", f"@{b}") for a, b in known])
    write("twice.csv", "left,right", [*known, (known[0][0], known[1][1])])
    write("single.csv", "left", [(a,) for a, _ in known])
    write("heading.csv", "left,right", [])
    write("numbers.csv", "source,target", [(str(i), str(i + 1)) for i in range(1, 30)])
    write("floats.csv", "left,right", [(f"{i}.0", f"{i}.0") for i in range(1, 20)])
    write("zeros.csv", "source,target", [(f"{i:03}", f"{i + 1:03}") for i in range(7, 40)])
    write("lost.csv", "left,right", [(str(i), str(i)) for i in range(7, 30)])
    write("dates.csv", "day,who,whom", [(f"2024-01-{i:02}", f"u{i}", f"v{i}") for i in range(1, 20)])
    write("ragged.csv", "source,target", [("a", "b"), ("b", "c"), ("c",), ("c", "d"), ("x",), ("d", "e")])
    write("people.csv", "id,name", [(a, "Ann") for a, _ in rows["left"]])
    (made / "empty.csv").write_text("")
    (made / "settings.json").write_text('{"seed": 1,\n "read": {"header": "no"}}')
    (made / "page.csv").write_text("<!doctype html><html><body>404</body></html>")
    (made / "lines.csv").write_text("".join(f'{{"source": "{a}", "target": "{b}"}}\n' for a, b in rows["left"]))
    for name in ("known.xlsx", "all.zip"):
        with zipfile.ZipFile(made / name, "w") as archive:
            archive.writestr("a", "b")
    for name, tables in (("database.csv", ("left",)), ("all.db", ("left", "right"))):
        database = sqlite3.connect(made / name)
        for table in tables:
            database.execute(f"CREATE TABLE {table} (source, target)")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows[table])
        database.commit()
        database.close()
    kedge("match", made / "left.csv", made / "right.csv", "-a", made / "known.csv", "-o", made / "run", "-q")
    return made


def _answer(line: str, folder: Path, tmp_path: Path) -> tuple[int, str, str]:
    words = (folder / "known.csv").read_text().splitlines()[1].split(",")
    places = {"d": str(folder), "run": str(folder / "run"), "new": str(tmp_path / "new")}
    places |= {"left": words[0], "right": words[1], "LEFT": words[0].upper()}
    return command_lines.run(line, places)


def _filled(words: tuple[str, ...], folder: Path) -> list[str]:
    left, right = (folder / "known.csv").read_text().splitlines()[1].split(",")
    return [word.format(run=folder / "run", left=left, right=right, LEFT=left.upper()) for word in words]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_its_cause(mistake: str, folder: Path, tmp_path: Path) -> None:
    line, words = MISTAKES[mistake]
    before = sorted(folder.rglob("*"))
    code, out, err = _answer(line, folder, tmp_path)
    *progress, answer = err.splitlines()
    assert (code, out) == (2, ""), err
    assert [word for word in _filled(words, folder) if word.lower() not in answer.lower()] == [], answer
    assert all(line.startswith("kedge: ") for line in progress), err
    assert sorted(folder.rglob("*")) == before
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("doubt", NOTED)
def test_what_is_doubtful_is_noted(doubt: str, folder: Path, tmp_path: Path) -> None:
    line, words = NOTED[doubt]
    code, out, err = _answer(line, folder, tmp_path)
    assert code == 0, err
    assert [word for word in words if word.lower() not in " ".join((out + err).split()).lower()] == [], out + err
    shutil.rmtree(tmp_path / "new", ignore_errors=True)


def test_there_are_thirty_and_more() -> None:
    assert len(MISTAKES) >= 30
