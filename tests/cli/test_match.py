"""`kedge match`: JSON, resume, refusals, kills, and nothing half-written."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command import ENVIRONMENT, kedge, match_words, process
from forked import Forked, command

METRICS = (
    "hits1 hits5 hits10 mrr left_to_right right_to_left matched_hits1 macro_precision macro_recall macro_f1 ece "
    "match_precision match_sample_precision match_recall"
).split()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_match_prints_the_promised_json(pair: Any, tmp_path: Path) -> None:
    result = kedge(*match_words(pair, tmp_path / "run", "--json", "-q"))
    summary = json.loads(result.stdout)
    assert {"run", "matches", "metrics", "cpu_seconds", "peak_mb"} <= summary.keys()
    assert set(METRICS) <= summary["metrics"].keys()
    for direction in ("left_to_right", "right_to_left"):
        assert {"hits1", "hits5", "hits10", "mrr"} <= summary["metrics"][direction].keys()
    assert summary["metrics"]["hits1"] == pytest.approx(
        (summary["metrics"]["left_to_right"]["hits1"] + summary["metrics"]["right_to_left"]["hits1"]) / 2
    )
    assert summary["metrics"]["hits10"] > 0.2, "far above chance"
    assert result.stderr == ""


@pytest.mark.parametrize(("decision", "shown"), [("match", ["e", "b", "a"]), ("review", ["d"]), ("no match", ["c"])])
def test_the_surest_pairs_of_a_decision_are_shown_first(decision: str, shown: Any) -> None:
    from kedge.cli.match import _surest

    rows = pa.table(
        {
            "left": ["a", "b", "c", "d", "e"],
            "right": ["v", "w", "x", "y", "z"],
            "probability": [0.9, 0.95, 0.2, 0.6, 0.99],
            "decision": pa.array(["match", "match", "no match", "review", "match"]).dictionary_encode(),
        }
    )
    assert [row["left"] for row in _surest(rows, decision)] == shown


def test_without_test_pairs_metrics_are_null(pair: Any, tmp_path: Path) -> None:
    words = match_words(pair, tmp_path / "run", "--json")
    del words[words.index("--test") : words.index("--test") + 2]
    metrics = json.loads(kedge(*words).stdout)["metrics"]
    assert metrics["hits1"] is None
    assert metrics["macro_f1"] is None
    assert metrics["ece"] is None


def test_test_pairs_do_not_change_the_matches(pair: Any, run: Any, tmp_path: Path) -> None:
    words = match_words(pair, tmp_path / "run")
    del words[words.index("--test") : words.index("--test") + 2]
    kedge(*words)
    assert (run / "matches.parquet").read_bytes() == (tmp_path / "run" / "matches.parquet").read_bytes()


def test_the_same_seed_gives_the_same_bytes_in_another_process(pair: Any, run: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    subprocess.run(
        process(*match_words(pair, out, "-q")),
        check=True,
        env={**ENVIRONMENT, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
    )
    assert (run / "matches.parquet").read_bytes() == (out / "matches.parquet").read_bytes()


def test_a_finished_run_is_shown_again_without_work(pair: Any, run: Any) -> None:
    result = kedge(*match_words(pair, run, "--json"))
    assert "already done" in result.stderr
    assert json.loads(result.stdout)["metrics"]["hits1"] is not None


def test_other_settings_on_the_same_run_are_refused(pair: Any, run: Any) -> None:
    result = kedge(*match_words(pair, run, "--seed", 9), code=2)
    assert "seed: 0 -> 9" in result.stderr
    result = kedge("match", pair / "right.tsv", pair / "left.tsv", "--anchors", pair / "train.tsv", "-o", run, code=2)
    assert "swapped" in result.stderr


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"left": "a\nb\n"}, "left"),
        ({"left": ""}, "is empty"),
        ({"right": "a,b\nc\n"}, ":2:"),
        ({"anchors": "x,y\n"}, "anchors"),
        ({"anchors": "a0,b0\na0,b1\n"}, "contradicts"),
        ({"anchors": "b0,a0\nb1,a1\n"}, "swapped"),
        ({"test": "q,r\n"}, "test"),
        ({"set": "read.heder=no"}, "did you mean"),
        ({"method": "magic"}, "no method 'magic'"),
        ({"preset": "magic"}, "no preset"),
        ({"out": "left"}, "is a file"),
    ],
)
def test_bad_input_is_one_line_exit_two_and_nothing_written(tmp_path: Path, broken: Any, words: str) -> None:
    given = {
        "left": "a0,a1\na1,a2\na2,a3\na0,a2\n",
        "right": "b0,b1\nb1,b2\nb2,b3\nb0,b2\n",
        "anchors": "a0,b0\na1,b1\n",
        "test": "a2,b2\n",
    }
    files = {name: write(tmp_path / name, broken.get(name, text)) for name, text in given.items()}
    out = tmp_path / broken.get("out", "run")
    more = [word for name in ("set", "method", "preset") if name in broken for word in (f"--{name}", broken[name])]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = kedge(
        "match",
        files["left"],
        files["right"],
        "--anchors",
        files["anchors"],
        "--test",
        files["test"],
        "-o",
        out,
        "-q",
        *more,
        code=2,
    )
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("kedge: ")
    assert "Traceback" not in result.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_is_finished_by_the_same_command_with_the_same_bytes(
    pair: Any, run: Any, tmp_path: Path, killer: Any
) -> None:
    for moment in (0.0, 0.3, 0.7):
        out = tmp_path / f"run{moment}"
        work = Forked(command, *match_words(pair, out), stream="stderr")
        said = work.output.readline()
        assert "reading" in said
        time.sleep(moment)
        work.send_signal(killer)
        assert "Traceback" not in said + work.end()[1]
        kedge(*match_words(pair, out, "-q"))
        assert (out / "matches.parquet").read_bytes() == (run / "matches.parquet").read_bytes()
        assert not list(out.rglob(".kedge-tmp-*"))


def test_what_is_dropped_on_reading_is_noted(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_text("# one\na,b,1\nb,a,1\nb,b,1\nb,c,0\nc,d,2\n")
    (tmp_path / "right.csv").write_text("a b x\nb c y\nc d z\n")
    (tmp_path / "known.csv").write_text("a,a\nb,b\n")
    left, right, known = (tmp_path / f"{name}.csv" for name in ("left", "right", "known"))
    notes = kedge("match", left, right, "-a", known, "-o", tmp_path / "run").stderr
    dropped = (
        "left: of 6 lines dropped: 1 comments, 1 edges of an account with itself, 1 edges listed again or reversed, "
        "1 edges of weight zero"
    )
    assert dropped in " ".join(notes.split())
    assert "right: the third column is not numeric and is ignored" in " ".join(notes.split())


def test_a_run_reads_pipes_and_stdin_and_is_resumed_by_the_same_content(pair: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    words = process(
        "match", pipe, "-", "-a", pair / "train.tsv", "-o", tmp_path / "run", "--method", "common-neighbours"
    )
    errors = []
    for _ in range(2):
        os.mkfifo(pipe)
        writer = subprocess.Popen(["cp", "/dev/stdin", pipe], stdin=(pair / "left.tsv").open("rb"))
        done = subprocess.run(words, stdin=(pair / "right.tsv").open("rb"), env=ENVIRONMENT, capture_output=True)
        assert (done.returncode, writer.wait()) == (0, 0), done.stderr
        errors.append(done.stderr.decode())
        pipe.unlink()
    assert "already done" not in errors[0]
    assert "already done" in errors[1]
    inputs = json.loads((tmp_path / "run" / "manifest.json").read_text())["inputs"]
    assert inputs["right"]["sha256"] == hashlib.sha256((pair / "right.tsv").read_bytes()).hexdigest()


def test_another_table_of_a_database_is_another_input(pair: Path, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "all.db")
    for side in ("left", "right"):
        rows = [line.split("\t") for line in (pair / f"{side}.tsv").read_text().splitlines()]
        database.execute(f"CREATE TABLE {side} (source, target)")
        database.executemany(f"INSERT INTO {side} VALUES (?, ?)", [row[:2] for row in rows])
    database.commit()
    database.close()
    out, name, more = tmp_path / "run", tmp_path / "all.db", ("-a", pair / "train.tsv", "--method", "common-neighbours")
    kedge("match", f"{name}::left", f"{name}::right", *more, "-o", out)
    from_text = tmp_path / "from_text"
    kedge("match", pair / "left.tsv", pair / "right.tsv", *more, "-o", from_text)
    assert (out / "matches.parquet").read_bytes() == (from_text / "matches.parquet").read_bytes()
    other = kedge("match", f"{name}::left", f"{name}::left", *more, "-o", out, code=2)
    assert "right" in other.stderr
