"""Damage is named by every command that reads the file, and the same `kedge match` computes it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command import kedge, match_words

from kedge.store import read_manifest
from kedge.store.manifest import FORMAT

ASSETS = Path(__file__).parents[1] / "assets"
PAIR = ASSETS / "run-format-4" / "pair"
NAMES = ("a000020", "b000007")
WORDS = ("--set", "mgcn.dimensions=16", "--set", "candidates=5")
READERS: dict[str, tuple[object, ...]] = {
    "report": (),
    "explain": NAMES,
    "export": ("-o", "OUT"),
    "evaluate": ("--test", PAIR / "test.tsv"),
    "decide": ("--threshold", 0.4),
    "purge": ("a000003", "--yes"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("damage") / "run"
    kedge(*match_words(PAIR, run, *WORDS, "-q"))
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("file", "commands"),
    [
        ("matches.parquet", "report explain export decide purge"),
        ("decided.json", "report explain export decide"),
        ("metrics.json", "report decide"),
        ("evaluation.json", "report decide"),
        ("manifest.json", "report explain export evaluate decide purge"),
        ("networks/left.npz", "report explain export evaluate decide purge"),
        ("networks/held_out.parquet", "decide purge"),
        ("model/scores.npz", "evaluate decide purge"),
        ("model/support.npz", "explain purge"),
        ("model/prior.npz", "explain purge"),
        ("model/calibration.json", "report evaluate decide"),
        ("embeddings", "explain"),
    ],
)
def test_damage_is_named_in_one_line(run: Path, tmp_path: Path, file: str, commands: str) -> None:
    path = next((run / file).iterdir()) if file == "embeddings" else run / file
    flip(path)
    for command in commands.split():
        words = [tmp_path / "out.csv" if word == "OUT" else word for word in READERS[command]]
        error = kedge(command, run, *words, code=2).stderr
        assert path.name in error
        assert "damaged" in error
        assert "kedge match" in error
        assert error.count("\n") == 1
        if command != "purge":
            assert not (tmp_path / "out.csv").exists()


def test_the_same_match_computes_again_what_is_damaged_vectors_included(whole: Path, run: Path) -> None:
    words = match_words(PAIR, run, *WORDS)
    vectors = sorted((run / "embeddings").iterdir())
    damaged = [run / "matches.parquet", run / "decided.json", run / "evaluation.json", vectors[0]]
    for path in damaged:
        flip(path)
    vectors[1].unlink()
    error = kedge(*words).stderr
    for path in (damaged[0], *vectors):
        assert f"{path.name} was damaged or missing and is computed again" in error
    for path in (*damaged, *vectors, run / "model" / "scores.npz"):
        assert path.read_bytes() == (whole / path.relative_to(run)).read_bytes(), path.name
    assert read_manifest(run)["files"] == read_manifest(whole)["files"]
    kedge("explain", run, *NAMES)


def test_a_format_number_that_was_damaged_is_no_way_around_the_checksum(run: Path) -> None:
    path = run / "manifest.json"
    path.write_text(path.read_text().replace(f'"format": {FORMAT}', '"format": 4'))
    assert "manifest is damaged" in kedge("explain", run, *NAMES, code=2).stderr


def test_files_that_the_manifest_does_not_name_are_not_read(run: Path) -> None:
    """Such as the vector prior of a run that was there before."""
    with_prior = kedge("explain", run, *NAMES).stdout
    prior = (run / "model" / "prior.npz").read_bytes()
    kedge(*match_words(PAIR, run, "--set", "pairing.use=no", "--force", "-q"))
    assert not (run / "model" / "prior.npz").exists()
    (run / "model" / "prior.npz").write_bytes(prior)
    assert kedge("explain", run, *NAMES).stdout != with_prior


def test_accounts_in_another_order_are_computed_again(whole: Path, run: Path) -> None:
    """A version that numbers accounts in another way must not mix its numbers with those of an earlier one."""
    from kedge.store import NETWORK, write_manifest
    from kedge.store.manifest import hash_file
    from kedge.types import Network

    other = Network.from_edges([(0, 1)], 2, ["x", "y"])
    with (run / "networks" / "left.npz").open("wb") as file:
        NETWORK.dump(other, file)
    manifest = read_manifest(run)
    manifest["stages"]["left-network"] |= {
        name: hash_file(run / "networks" / "left.npz")[name] for name in ("bytes", "sha256")
    }
    write_manifest(run, manifest)
    error = kedge(*match_words(PAIR, run, *WORDS)).stderr
    assert "all is computed again" in error
    assert (run / "matches.parquet").read_bytes() == (whole / "matches.parquet").read_bytes()
