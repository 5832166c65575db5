"""Order carries no meaning: shuffled rows, turned edges and other names give the same result, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge, match_words
from scipy.sparse import csr_array

Rows = list[list[str]]
WORDS = ["--set", "pairing.use=no", "--set", "candidates=5", "-q"]
FILES = ("left", "right", "train", "test")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """Dense enough that no two accounts have the same neighbours."""
    folder = tmp_path_factory.mktemp("order")
    edges = ["--left-edges", 900, "--right-edges", 880]
    kedge("synth", "-o", folder, "--nodes", 90, *edges, "--overlap", 0.8, "--seed", 5, "--train", 0.4, "-q")
    return {name: [line.split("\t") for line in (folder / f"{name}.tsv").read_text().splitlines()] for name in FILES}


def write(pair: dict[str, Rows], folder: Path, change: Callable[[str, Rows], Rows]) -> Path:
    folder.mkdir()
    for name, rows in pair.items():
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in change(name, rows)))
    return folder


def matched(data: Path, out: Path) -> Path:
    kedge(*match_words(data, out, *WORDS))
    return out


def scores(run: Path) -> dict[str, Any]:
    with np.load(run / "model" / "scores.npz") as held:
        return dict(held)


@pytest.fixture(scope="module")
def usual(pair: dict[str, Rows], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("usual")
    return matched(write(pair, folder / "data", lambda _, rows: rows), folder / "run")


def shuffled(name: str, rows: Rows) -> Rows:
    """Another order of the rows; every other edge in the other direction."""
    rng = np.random.default_rng(len(name))
    mixed = [rows[i] for i in rng.permutation(len(rows))]
    return mixed if name in ("train", "test") else [row[::-1] if i % 2 else row for i, row in enumerate(mixed)]


def renamed(text: str) -> str:
    """Names whose order is another one."""
    return f"{text[0]}{pow(int(text[1:]) + 1, 5, 100_003):06d}"


def equal_scores(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


def test_shuffled_rows_and_turned_edges_give_the_same_bytes(pair: dict[str, Rows], usual: Path, tmp_path: Path) -> None:
    run = matched(write(pair, tmp_path / "data", shuffled), tmp_path / "run")
    for file in ("matches.parquet", "model/scores.npz", "networks/left.npz", "networks/anchors.npz", "metrics.json"):
        assert (run / file).read_bytes() == (usual / file).read_bytes(), file


def test_other_names_give_the_same_scores_and_matches(pair: dict[str, Rows], usual: Path, tmp_path: Path) -> None:
    names = sorted({name for row in pair["left"] for name in row})
    assert len({renamed(name) for name in names}) == len(names)
    assert sorted(map(renamed, names)) != [renamed(name) for name in names], "the order is another one"

    def change(name: str, rows: Rows) -> Rows:
        return [[renamed(u), renamed(v)] for u, v in shuffled(name, rows)]

    run = matched(write(pair, tmp_path / "data", change), tmp_path / "run")
    equal_scores(scores(run), scores(usual))
    found, expected = (pq.read_table(each / "matches.parquet").to_pylist() for each in (run, usual))
    for row in expected:
        row |= {"left": renamed(row["left"]), "right": renamed(row["right"])}
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(found) > 100


def test_exchanged_networks_give_the_transposed_scores(pair: dict[str, Rows], usual: Path, tmp_path: Path) -> None:
    other = {"left": "right", "right": "left"}
    turned = {other.get(name, name): [r[::-1] for r in rows] for name, rows in pair.items()}
    run = matched(write(turned, tmp_path / "data", shuffled), tmp_path / "run")
    for name in ("", "strengths_"):
        found, expected = (_matrix(scores(each), name) for each in (run, usual))
        np.testing.assert_array_equal(found.toarray(), expected.toarray().T)
        assert found.nnz > 100


def _matrix(held: dict[str, Any], name: str) -> csr_array:
    return csr_array(tuple(held[f"{name}{part}"] for part in ("data", "indices", "indptr")), held[f"{name}shape"])


def test_vectors_of_shuffled_rows_are_the_same_for_each_id(pair: dict[str, Rows], tmp_path: Path) -> None:
    tables = []
    for number, change in enumerate((lambda _, rows: rows, shuffled)):
        data = write(pair, tmp_path / f"data{number}", change)
        out = tmp_path / f"vectors{number}.parquet"
        kedge("embed", data / "left.tsv", "-o", out, "--set", "mgcn.dimensions=8", "--set", "mgcn.steps=20", "-q")
        tables.append({row.pop("id"): row for row in pq.read_table(out).to_pylist()})
    assert tables[0] == tables[1]
    assert len(tables[0]) == 90
