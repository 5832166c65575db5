"""`kedge embed`: one vector per account, in every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge


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
    assert "no format" in kedge("embed", pair / "left.tsv", "-o", tmp_path / "v.txt", code=2).stderr


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
