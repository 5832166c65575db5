"""The command line as a user meets it: words, exit codes, one-line errors, JSON, resume, nothing half-written."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ENVIRONMENT, kedge, match_words, process

METRICS = (
    "hits1 hits5 hits10 mrr left_to_right right_to_left matched_hits1 macro_precision macro_recall macro_f1 ece "
    "match_precision match_sample_precision match_recall"
).split()


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pair") / "data"
    kedge("synth", "-o", folder, "--nodes", 400, "--overlap", 0.8, "--seed", 3, "-q")
    return folder


@pytest.fixture(scope="module")
def run(pair, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    kedge(*match_words(pair, out))
    return out


def test_match_prints_the_promised_json(pair, tmp_path):
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
def test_the_surest_pairs_of_a_decision_are_shown_first(decision, shown):
    from kedge.cli.matching import _surest

    rows = pa.table(
        {
            "left": ["a", "b", "c", "d", "e"],
            "right": ["v", "w", "x", "y", "z"],
            "probability": [0.9, 0.95, 0.2, 0.6, 0.99],
            "decision": pa.array(["match", "match", "no match", "review", "match"]).dictionary_encode(),
        }
    )
    assert [row["left"] for row in _surest(rows, decision)] == shown


def test_without_test_pairs_metrics_are_null(pair, tmp_path):
    words = match_words(pair, tmp_path / "run", "--json")
    del words[words.index("--test") : words.index("--test") + 2]
    metrics = json.loads(kedge(*words).stdout)["metrics"]
    assert metrics["hits1"] is None
    assert metrics["macro_f1"] is None
    assert metrics["ece"] is None


def test_test_pairs_do_not_change_the_matches(pair, run, tmp_path):
    words = match_words(pair, tmp_path / "run")
    del words[words.index("--test") : words.index("--test") + 2]
    kedge(*words)
    assert (run / "matches.parquet").read_bytes() == (tmp_path / "run" / "matches.parquet").read_bytes()


def test_the_same_seed_gives_the_same_bytes_in_another_process(pair, run, tmp_path):
    out = tmp_path / "run"
    subprocess.run(
        process(*match_words(pair, out, "-q")),
        check=True,
        env={**ENVIRONMENT, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
    )
    assert (run / "matches.parquet").read_bytes() == (out / "matches.parquet").read_bytes()


def test_a_finished_run_is_shown_again_without_work(pair, run):
    result = kedge(*match_words(pair, run, "--json"))
    assert "already done" in result.stderr
    assert json.loads(result.stdout)["metrics"]["hits1"] is not None


def test_other_settings_on_the_same_run_are_refused(pair, run):
    result = kedge(*match_words(pair, run, "--seed", 9), code=2)
    assert "seed: 0 -> 9" in result.stderr
    result = kedge("match", pair / "right.tsv", pair / "left.tsv", "--anchors", pair / "train.tsv", "-o", run, code=2)
    assert "swapped" in result.stderr


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_export_writes_the_promised_columns(run, tmp_path, kind):
    out = tmp_path / f"m.{kind}"
    kedge("export", run, "--candidates", 3, "--format", kind, "-o", out)
    if kind == "csv":
        rows = list(csv.DictReader(out.open()))
    elif kind == "json":
        rows = json.loads(out.read_text())
    else:
        rows = pq.read_table(out).to_pylist()
    assert list(rows[0]) == ["left", "right", "rank", "score", "probability"]
    by_left: dict[str, list[int]] = {}
    for row in rows:
        by_left.setdefault(row["left"], []).append(int(row["rank"]))
        assert 0 <= float(row["probability"]) <= 1
    assert all(ranks == list(range(1, len(ranks) + 1)) and len(ranks) <= 3 for ranks in by_left.values())
    result = kedge("export", run, "-o", out, code=2)
    assert "exists already" in result.stderr
    kedge("export", run, "-o", out, "--force")


def test_export_guards_formulas_on_request(tmp_path):
    rows = ["=cmd()\tx0", "x0\tx1", "x1\t=cmd()", "x1\tx2"]
    for side in "lr":
        (tmp_path / f"{side}.tsv").write_text("\n".join(rows))
    (tmp_path / "a.tsv").write_text("x0\tx0\nx1\tx1\n")
    files = [tmp_path / name for name in ("l.tsv", "r.tsv")]
    kedge("match", *files, "--anchors", tmp_path / "a.tsv", "-o", tmp_path / "run", "-q")
    kedge("export", tmp_path / "run", "-o", tmp_path / "plain.csv")
    kedge("export", tmp_path / "run", "-o", tmp_path / "safe.csv", "--excel-safe")
    assert "\n=cmd()" in (tmp_path / "plain.csv").read_text() or '"=cmd()' in (tmp_path / "plain.csv").read_text()
    assert "'=cmd()" in (tmp_path / "safe.csv").read_text()


def test_evaluate_agrees_with_match(pair, run):
    again = json.loads(kedge("evaluate", run, "--test", pair / "test.tsv", "--json").stdout)
    first = json.loads((run / "metrics.json").read_text())
    assert again == first


def test_check_says_what_is_there(pair):
    words = ("check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv")
    report = json.loads(kedge(*words, "--json", "-q").stdout)
    assert report["left"]["accounts"] == 400
    assert report["anchors"]["listed"]["found"] == report["anchors"]["listed"]["rows"]
    assert 0 < report["anchors"]["overlap"] <= 1
    text = kedge(*words).stdout
    assert "edge overlap" in text
    assert "CPU seconds" in text


def test_demo_prints_the_same_object_as_match(tmp_path):
    summary = json.loads(kedge("demo", "-o", tmp_path / "demo", "--json", "-q").stdout)
    assert set(METRICS) <= summary["metrics"].keys()
    assert summary["metrics"]["hits1"] > 0.2
    assert (tmp_path / "demo" / "matches.parquet").exists()
    manifest = json.loads((tmp_path / "demo" / "manifest.json").read_text())
    assert {"versions", "seed", "inputs", "config", "stages"} <= manifest.keys()


def test_synth_gives_the_same_bytes_for_the_same_seed(pair, tmp_path):
    kedge("synth", "-o", tmp_path / "again", "--nodes", 400, "--overlap", 0.8, "--seed", 3, "-q")
    for path in pair.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    kedge("synth", pair / "left.tsv", "-o", tmp_path / "sub", "--alpha-s", 0.9, "--alpha-c", 0.5)
    result = kedge("synth", "-o", tmp_path / "sub", code=2)
    assert "is not empty" in result.stderr


def test_explain_adds_up_also_for_a_pair_that_is_rejected(run, tmp_path):
    rows = pq.read_table(run / "matches.parquet").to_pylist()
    best = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    other = next(row["right"] for row in rows if row["right"] != best["right"])
    for right in (best["right"], other):
        told = json.loads(kedge("explain", run, best["left"], right, "--json").stdout)
        parts = told["prior"] + told["vectors"] + sum(reason["weight"] for reason in told["hits"] + told["misses"])
        assert told["log_odds"] == pytest.approx(parts)
    told = json.loads(kedge("explain", run, best["left"], best["right"], "--json").stdout)
    assert told["probability"] == pytest.approx(best["probability"])
    assert told["hits"], "somebody spoke for the surest match"
    plot = tmp_path / "why.svg"
    text = kedge("explain", run, best["left"], best["right"], "--plot", plot).stdout
    assert best["left"] in text
    assert "total" in text
    assert plot.read_text().startswith("<svg")
    assert "no left account 'nobody'" in kedge("explain", run, "nobody", best["right"], code=2).stderr
    assert "exchange the two" in kedge("explain", run, best["right"], best["left"], code=2).stderr


def test_explain_says_that_candidates_stand_in_another_order(pair, tmp_path):
    from kedge.review.data import load_review

    settings = ("pairing.use=yes", "pairing.turns=1", "pairing.mixture=[0.1, 0.1, 0.5, 1.0, 0.5, 0]", "decide.folds=1")
    words = [word for setting in settings for word in ("--set", setting)]
    networks = (pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "anchors.tsv")
    kedge("match", *networks, "-o", tmp_path / "run", *words, "-q")
    rows = pq.read_table(tmp_path / "run" / "matches.parquet").to_pylist()
    best = max((row for row in rows if row["assigned"]), key=lambda row: row["probability"])
    told = json.loads(kedge("explain", tmp_path / "run", best["left"], best["right"], "--json").stdout)
    (note,) = told["notes"]
    assert load_review(tmp_path / "run").reordered
    assert "nearness 1.00" in note
    parts = told["prior"] + told["vectors"] + sum(reason["weight"] for reason in told["hits"] + told["misses"])
    assert told["log_odds"] == pytest.approx(parts), "the waterfall still adds up"


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz"])
def test_embed_writes_a_vector_an_account(pair, tmp_path, kind):
    import numpy as np

    out = tmp_path / f"v.{kind}"
    words = ("embed", pair / "left.tsv", "-o", out, "--set", "mgcn.dimensions=8", "--set", "mgcn.steps=60")
    facts = json.loads(kedge(*words, "--json", "-q").stdout)
    assert facts["verdict"] == "trained"
    assert facts["loss"] < facts["trivial_loss"]
    if kind == "npz":
        with np.load(out, allow_pickle=False) as held:
            ids, vectors = held["ids"].tolist(), held["vectors"]
    else:
        rows = pq.read_table(out).to_pylist() if kind == "parquet" else list(csv.DictReader(out.open()))
        ids = [row.pop("id") for row in rows]
        vectors = np.array([row["vector"] if kind == "parquet" else [float(v) for v in row.values()] for row in rows])
    assert vectors.shape == (400, 8)
    assert len(set(ids)) == 400
    assert "exists already" in kedge(*words, code=2).stderr
    assert "no format" in kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.txt", code=2).stderr


def test_embed_tells_what_the_hyperedges_are_like_and_takes_ones_own(pair, tmp_path):
    small = ("--set", "mgcn.dimensions=8", "--set", "mgcn.steps=30")
    told = kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.npz", *small)
    assert "400 hyperedges of " in told.stderr
    assert "coverage 0.0" in told.stderr
    assert " MB" in told.stderr
    assert "degenerate" not in told.stderr
    wide = ("--set", "hypergraph.nearest=0", "--force", "--json")
    told = kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.npz", *small, *wide)
    assert "warning: degenerate hypergraph: its hyperedges cover" in told.stderr
    assert json.loads(told.stdout)["hypergraph"]["coverage"] > 0.9
    ids = sorted({cell for line in (pair / "left.tsv").read_text().splitlines()[1:] for cell in line.split("\t")[:2]})
    rows = [f"{name},group{i % 3},0.5" for i, name in enumerate(ids)]
    mine = write(tmp_path / "mine.csv", "\n".join(["account,hyperedge,p", *rows, ""]))
    words = ("embed", pair / "left.tsv", "-o", tmp_path / "own.npz", *small, "--hypergraph", mine)
    assert json.loads(kedge(*words, "--json").stdout)["hypergraph"]["hyperedges"] == 3
    write(mine, f"{ids[0]},a,1\n{ids[1]},a,7\n")
    failed = kedge(*words, "--force", code=2).stderr
    assert f"{mine}:2: p = 7 is outside [0, 1]" in failed
    assert len(failed.strip().splitlines()) <= 3


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


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
def test_bad_input_is_one_line_exit_two_and_nothing_written(tmp_path, broken, words):
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


def test_a_run_that_is_none_is_said(tmp_path):
    for words in (["export", tmp_path, "-o", tmp_path / "x.csv"], ["evaluate", tmp_path, "--test", tmp_path]):
        assert "not a kedge run" in kedge(*words, code=2).stderr


def test_config_prints_toml_with_help_and_doctor_knows_the_machine():
    text = kedge("config", "--preset", "paper").stdout
    assert "# where all randomness starts" in text
    assert json.loads(kedge("config", "--json", "--set", "seed=4").stdout)["seed"] == 4
    facts = json.loads(kedge("doctor", "--json").stdout)
    assert facts["cores"] >= 1
    assert facts["libraries"]["torch"] != "missing"


def test_light_commands_stay_light():
    code = (
        "import sys\nfrom kedge.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "assert not {'torch', 'numba', 'networkit', 'faiss'} & set(sys.modules), 'a heavy import'"
    )
    for words in (["--help"], ["check", "--help"], ["config"], ["doctor"]):
        subprocess.run([sys.executable, "-c", code, *words], check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)


def test_the_default_method_does_without_torch():
    code = "import sys, kedge.methods.kedge\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env=ENVIRONMENT)


def test_check_synth_and_export_never_import_torch(pair, run, tmp_path):
    code = (
        "import sys\nfrom kedge.cli import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    for words in (
        ["check", pair / "left.tsv", pair / "right.tsv", "--anchors", pair / "train.tsv"],
        ["synth", "-o", tmp_path / "s", "--nodes", 50],
        ["export", run, "-o", tmp_path / "m.csv"],
    ):
        command = [sys.executable, "-c", code, *[str(word) for word in words]]
        subprocess.run(command, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)


def test_help_costs_under_half_a_second_of_cpu():
    import resource

    def children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    subprocess.run(process("--help"), check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    spent = []
    for _ in range(3):
        before = children()
        subprocess.run(process("--help"), check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        spent.append(children() - before)
    assert min(spent) < 0.5


@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_is_finished_by_the_same_command_with_the_same_bytes(pair, run, tmp_path, killer):
    for moment in (0.0, 0.3, 0.7):
        out = tmp_path / f"run{moment}"
        work = subprocess.Popen(
            process(*match_words(pair, out)), env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert work.stderr is not None
        said = work.stderr.readline()
        assert b"reading" in said
        time.sleep(moment)
        work.send_signal(killer)
        said += work.communicate()[1]
        assert b"Traceback" not in said
        kedge(*match_words(pair, out, "-q"))
        assert (out / "matches.parquet").read_bytes() == (run / "matches.parquet").read_bytes()
        assert not list(out.rglob(".kedge-tmp-*"))


@pytest.mark.parametrize(("sent", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_in_a_destructor_is_not_lost(sent, code):
    program = f"""
import signal, time, typer
from kedge.cli.options import guarded

class Closing:
    def __del__(self):
        signal.raise_signal(signal.{sent})
        for _ in range(100):
            pass

@guarded
def work():
    Closing()
    time.sleep(30)
    print("went on")

typer.run(work)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "went on" not in done.stdout
