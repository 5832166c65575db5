"""`kedge embed`: one vector per account, in every format."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge
from safetensors import safe_open


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "npz"])
def test_embed_writes_one_vector_per_account(pair: Any, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"v.{kind}"
    words = ("embed", pair / "left.tsv", "-o", out, "--set", "mgcn.dimensions=8", "--set", "mgcn.steps=60")
    facts = json.loads(kedge(*words, "--json", "-q").stdout)
    assert facts["verdict"] == "trained"
    assert facts["loss"] < facts["trivial_loss"]
    if kind == "npz":
        with np.load(out, allow_pickle=False) as held:
            ids, vectors = held["ids"].tolist(), held["vectors"]
    else:
        rows = (
            pq.read_table(out).to_pylist() if kind == "parquet" else list(csv.DictReader(out.read_text().splitlines()))
        )
        ids = [row.pop("id") for row in rows]
        vectors = np.array([row["vector"] if kind == "parquet" else [float(v) for v in row.values()] for row in rows])
    assert vectors.shape == (400, 8)
    assert len(set(ids)) == 400
    assert "exists already" in kedge(*words, code=2).stderr
    assert "no format" in kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.xyz", code=2).stderr


SHORT = ("--set", "mgcn.dimensions=8", "--set", "mgcn.steps=30", "-q")


def read_words(path: Path) -> tuple[list[str], np.ndarray]:
    """As gensim reads word2vec's text: a line with both sizes, then a word and its numbers."""
    (n, d), *lines = (line.split(" ") for line in path.read_text().splitlines())
    assert len(lines) == int(n)
    assert all(len(line) == int(d) + 1 for line in lines)
    return [line[0] for line in lines], np.array([line[1:] for line in lines], np.float32)


def test_the_formats_that_other_programs_load_hold_the_same_vectors(pair: Any, tmp_path: Path) -> None:
    made = {}
    for kind in ("npz", "npy", "vec", "safetensors"):
        kedge("embed", pair / "left.tsv", "-o", tmp_path / f"v.{kind}", *SHORT)
    with np.load(tmp_path / "v.npz", allow_pickle=False) as held:
        ids, vectors = held["ids"].tolist(), held["vectors"]
    made["npy"] = json.loads((tmp_path / "v.ids.json").read_text()), np.load(tmp_path / "v.npy", allow_pickle=False)
    made["vec"] = read_words(tmp_path / "v.vec")
    with safe_open(tmp_path / "v.safetensors", framework="numpy") as file:
        made["safetensors"] = json.loads(file.metadata()["ids"])["vectors"], file.get_tensor("vectors")
    for kind, (names, numbers) in made.items():
        assert names == ids, kind
        assert np.array_equal(numbers, vectors), kind


def test_an_id_with_a_space_is_refused_in_words(tmp_path: Path) -> None:
    edges = write(tmp_path / "edges.csv", "a,b\nann lee,bob\nbob,carl\ncarl,ann lee\n")
    failed = kedge("embed", edges, "-o", tmp_path / "v.txt", *SHORT, code=2).stderr
    assert "the id 'ann lee' has a space" in failed
    assert not (tmp_path / "v.txt").exists()


def test_two_networks_are_embedded_into_one_space(pair: Any, tmp_path: Path) -> None:
    out, card = tmp_path / "v.parquet", tmp_path / "card.md"
    words = ("embed", pair / "left.tsv", pair / "right.tsv", "-a", pair / "train.tsv", "-o", out, "--card", card)
    facts = json.loads(kedge(*words, "--set", "mgcn.dimensions=16", "--set", "mgcn.steps=150", "-q", "--json").stdout)
    assert [one["accounts"] for one in facts["networks"]] == [400, 400]
    rows = pq.read_table(out).to_pylist()
    place = {(row["network"], row["id"]): np.array(row["vector"]) for row in rows}
    pairs = [line.split("\t") for line in (pair / "test.tsv").read_text().splitlines()]
    true = [(place["left", u], place["right", v]) for u, v in pairs if ("left", u) in place and ("right", v) in place]
    near = np.mean([x @ y for x, y in true])
    far = np.mean([x @ y for (x, _), (_, y) in zip(true, true[1:] + true[:1], strict=True)])
    assert len(true) > 20
    assert near > far + 0.2, "held-out pairs are nearer than strangers"
    text = card.read_text()
    for heading in ("# v.parquet", "## Data", "## The left network", "## Settings", "## Limits", "## Versions"):
        assert heading in text
    assert "mgcn.dimensions: 128 -> 16" in text
    assert "one space" in kedge(*words, "--force", *SHORT).stdout
    assert "two networks are embedded by their anchors" in kedge(*words[:3], "-o", out, code=2).stderr


def test_a_model_card_states_data_training_and_limits(pair: Any, tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.npy", "--card", card, *SHORT)
    made = json.loads(card.read_text())
    assert made["data"]["network"]["sha256"] == hashlib.sha256((pair / "left.tsv").read_bytes()).hexdigest()
    (network,) = made["networks"]
    assert network["accounts"] == 400
    assert network["loss"][-1] < network["trivial_loss"]
    assert all(0 <= share <= 1 for share in network["levels"])
    assert made["settings"]["mgcn"]["steps"] == 30
    assert made["versions"]["kedge"]
    failed = kedge("embed", pair / "left.tsv", "-o", tmp_path / "w.npy", "--card", tmp_path / "c.txt", code=2).stderr
    assert "model card" in failed


def test_embed_describes_its_hyperedges_and_reads_given_ones(pair: Any, tmp_path: Path) -> None:
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


def test_the_command_and_the_function_give_the_same_vectors(pair: Any, tmp_path: Path) -> None:
    import kedge as library

    out = tmp_path / "v.npz"
    kedge(
        "embed", pair / "left.tsv", "-o", out, "--seed", 5, "--set", "mgcn.dimensions=8", "--set", "mgcn.steps=30", "-q"
    )
    made = library.embed(pair / "left.tsv", seed=5, settings={"mgcn.dimensions": 8, "mgcn.steps": 30})
    with np.load(out, allow_pickle=False) as held:
        assert held["ids"].tolist() == made.ids.to_pylist()
        assert np.array_equal(held["vectors"], made.vectors)
