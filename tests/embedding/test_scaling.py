"""Networks past one part, as a user meets them: engines, resume, memory limits, and input that is refused."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import kedge, match_words
from forked import Forked, command, killed_when
from graphs import communities
from ports import free_port

from kedge.config import resolve
from kedge.context.run_context import CacheEntry, MemoryCache, RunContext, Silent
from kedge.embedding.network import embed_network, embed_networks
from kedge.embedding.plan import Source
from kedge.errors import KedgeError
from kedge.store import DiskCache
from kedge.types import Network

SMALL = [
    *"mgcn.space=projected mgcn.dimensions=8 mgcn.steps=60 mgcn.learning_rate=0.05".split(),
    *"partition.n_max=150 partition.n_min=30 partition.shared=20".split(),
    *"mgcn.drop_edges=0 partition.sketch_length=1".split(),  # so few steps need all edges, and to move far
]
WORDS = ["--method", "mgcn", *(word for setting in SMALL for word in ("--set", setting))]
NO_ANCHORS = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pair") / "data"
    kedge("synth", "-o", folder, "--nodes", 500, "--overlap", 0.8, "--seed", 3, "-q")
    return folder


@pytest.fixture(scope="module")
def whole(pair: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    kedge(*match_words(pair, out, *WORDS, "--engine", "serial"))
    return out


def same_results(one: Path, other: Path) -> bool:
    names = ("matches.parquet", "model/scores.npz", "model/training.json", "model/parts.json")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_match_cuts_large_networks_and_reports_it(pair: Path, tmp_path: Path, whole: Path) -> None:
    said = kedge(*match_words(pair, tmp_path / "run", *WORDS, "--workers", 2)).stderr
    assert "the left network is cut into" in said
    assert "engine processes: 2 worker processes" in said
    assert same_results(tmp_path / "run", whole)
    parts = json.loads((whole / "model/parts.json").read_text())
    assert sum(parts["left"]) == 500
    assert len(parts["residuals"]["left"]) == len(parts["left"]) > 1
    training = json.loads((whole / "model/training.json").read_text())
    assert set(training["curves"]["loss"]) == {"left", "right", "trivial"}
    assert "Sizes of the parts" in (whole / "report.html").read_text()


def test_a_finished_network_takes_the_place_of_its_parts_and_serves_the_next_match(
    pair: Path, whole: Path, tmp_path: Path
) -> None:
    assert len(list((whole / "embeddings").iterdir())) == 2, "one file a network"
    # Another threshold is another run, but its embeddings are the same.
    before = {path: path.stat().st_mtime_ns for path in (whole / "embeddings").iterdir()}
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    said = kedge(*match_words(pair, out, *WORDS, "--set", "decide.precision=0.8", "--force")).stderr
    assert "is cut into" not in said
    assert {path.name for path in (out / "embeddings").iterdir()} == {path.name for path in before}


def test_a_purge_takes_the_vectors_too(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "run")
    somebody = pq.read_table(whole / "matches.parquet")["left"][0].as_py()
    kedge("purge", "--yes", tmp_path / "run", somebody, "--side", "left")
    assert not (tmp_path / "run" / "embeddings").exists()


def wait_for(condition: Any, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def trained(folder: Path) -> int:
    return len(list(folder.glob("*.safetensors")))


def kill_after_parts(words: list[object], folder: Path, count: int) -> list[str]:
    """Run a command, killed -9 when `count` parts are trained; the names of the parts that it left."""
    workers = Forked(killed_when, folder, "*.safetensors", count, *words).end()[1].splitlines()[-1].split()
    wait_for(lambda: not any(alive(int(pid)) for pid in workers))  # workers end with their parent
    return sorted(path.name for path in folder.glob("*.safetensors"))


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_killed_match_has_its_parts_and_ends_with_the_same_bytes(
    pair: Path, tmp_path: Path, whole: Path, engine: str
) -> None:
    out = tmp_path / "run"
    words = [*match_words(pair, out, *WORDS, "--engine", engine), "--workers", 1]
    left = kill_after_parts(words, out / "embeddings", 3)
    assert len(left) >= 3
    said = kedge(*words).stderr
    assert f"{len(left)} of" in said
    assert "parts were trained before" in said
    assert same_results(out, whole)
    assert not list(out.rglob(".kedge-tmp-*"))


def test_a_killed_embed_goes_on_and_leaves_nothing_behind(pair: Path, tmp_path: Path) -> None:
    words = ["embed", pair / "left.tsv", *WORDS[2:], "--engine", "serial", "-o"]
    facts = json.loads(kedge(*words, tmp_path / "a.npz", "--json", "-q").stdout)
    assert facts["parts"] > 1
    assert facts["verdict"] == "trained"
    kill_after_parts([*words, tmp_path / "b.npz"], tmp_path / "b.npz.parts", 2)
    assert not (tmp_path / "b.npz").exists()
    assert "parts were trained before" in kedge(*words, tmp_path / "b.npz").stderr
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_a_damaged_part_is_named_and_trained_again(tmp_path: Path) -> None:
    network = communities(300, 6, 0.15, 0.01, 0)
    said: list[str] = []

    class Stubborn(DiskCache):
        def drop(self, keys: Any) -> None:
            """Keeps the parts, as a kill just before their removal would."""

    first = embed_network(Source(network, NO_ANCHORS, 0), config(), RunContext(Stubborn(tmp_path, said.append)))
    whole, flipped, cut = sorted(tmp_path.iterdir(), key=lambda path: -path.stat().st_size)[:3]
    whole.unlink()
    content = bytearray(flipped.read_bytes())
    content[-7] ^= 4
    flipped.write_bytes(bytes(content))
    cut.write_bytes(b"half")
    again = embed_network(Source(network, NO_ANCHORS, 0), config(), RunContext(DiskCache(tmp_path, said.append)))
    assert np.array_equal(first.vectors, again.vectors)
    assert sorted(said) == sorted(
        f"{tmp_path.name}/{path.name} was damaged and is computed again" for path in (flipped, cut)
    )
    assert [path.name for path in tmp_path.iterdir()] == [whole.name]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_run_and_survives_a_worker_killed_by_its_pid(
    cluster: Any,
    pair: Path,
    whole: Path,
    tmp_path: Path,
) -> None:
    address, running = cluster
    said = kedge(*match_words(pair, tmp_path / "one", *WORDS, "--address", address)).stderr
    assert "engine dask: 2 workers" in said
    assert same_results(tmp_path / "one", whole)
    out = tmp_path / "two"
    words = match_words(pair, out, *WORDS, "--engine", "dask", "--address", address)
    work = Forked(command, *words, stream="stderr")
    wait_for(lambda: trained(out / "embeddings") >= 1)
    os.kill(running[-1].pid, signal.SIGKILL)
    code, complaint = work.end()
    assert code == 0, complaint
    assert same_results(out, whole)


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_scheduler_is_one_line_and_the_run_goes_on_elsewhere(
    pair: Path, whole: Path, tmp_path: Path
) -> None:
    out, address = tmp_path / "run", f"tcp://127.0.0.1:{free_port()}"
    said = kedge(*match_words(pair, out, *WORDS, "--address", address, "-q"), code=2).stderr
    assert said.count("\n") == 1
    assert f"no Dask scheduler answers at {address}" in said
    kedge(*match_words(pair, out, *WORDS, "--engine", "serial", "-q"))
    assert same_results(out, whole)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--set", "partition.n_min=200"], "partition.n_min 200 is above partition.n_max 150"),
        (["--set", "partition.shared=500"], "partition.shared 500 is not below the 500 accounts"),
        (["--max-memory", "1MB"], "more than --max-memory 1 MB"),
        (["--max-memory", "much"], "--max-memory 'much' is not a size"),
        (["--engine", "magic"], "engine.name = magic is refused"),
        (["--engine", "dask"], "engine dask needs the scheduler's address"),
    ],
)
def test_what_cannot_work_is_one_line_and_exit_two(pair: Path, tmp_path: Path, more: Any, words: str) -> None:
    said = kedge(*match_words(pair, tmp_path / "run", *WORDS, *more, "-q"), code=2).stderr
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("size", "limit"), [("4GB", 4000), ("800mb", 800), ("1.5 GiB", 1500), ("64000000", 64)])
def test_sizes_of_memory_are_read(size: str, limit: int) -> None:
    from kedge.cli.options import engine_settings

    assert engine_settings(None, None, (None, None, None), None, size) == {"engine.max_memory_mb": limit}


def test_a_full_disk_is_one_line_and_nothing_is_lost(
    pair: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    words = match_words(pair, out, *WORDS, "--engine", "serial", "-q")
    real, written = os.fsync, []

    def full(handle: int) -> None:
        if "embeddings" in str(Path(f"/proc/self/fd/{handle}").readlink()):
            written.append(handle)
            if len(written) > 6:  # a file and its directory are synced for each part
                raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        said = kedge(*words, code=2).stderr
    assert "no space is left on the device; free some" in said
    assert said.count("\n") == 1
    assert trained(out / "embeddings") == 3
    assert not list(out.rglob(".kedge-tmp-*"))
    kedge(*words)
    assert same_results(out, whole)


def config(*more: str) -> Any:
    return resolve(assignments=[*SMALL, "engine.name=serial", *more])


def test_vectors_do_not_depend_on_anchors_unless_they_are_used() -> None:
    network = communities(300, 6, 0.15, 0.01, 0)
    cache = MemoryCache()
    first = embed_network(Source(network, np.array([1, 2]), 0), config(), RunContext(cache))
    count = len(cache._entries)
    again = embed_network(Source(network, np.array([3]), 0), config(), RunContext(cache))
    assert len(cache._entries) == count == 1
    assert np.array_equal(first.vectors, again.vectors)
    embed_network(Source(network, np.array([3]), 0), config("partition.anchors_first=true"), RunContext(cache))
    embed_network(Source(network, np.array([4]), 0), config("partition.anchors_first=true"), RunContext(cache))
    assert len(cache._entries) == 3


def test_a_part_without_anchors_has_hyperedges_around_all_and_is_named() -> None:
    network = communities(300, 6, 0.15, 0.01, 0)
    made = embed_network(
        Source(network, np.array([0, 6]), 0), config("hypergraph.builders=anchor", "partition.shared=5")
    )
    assert made.parts.count > 1
    assert "holds no anchors: its hyperedges are around all its accounts" in " ".join(made.notes)
    assert np.isfinite(made.vectors).all()


class Listener(Silent):
    def __init__(self, heard: list[str]) -> None:
        self.heard = heard

    def note(self, text: str) -> None:
        self.heard.append(text)


def test_a_clique_and_thousands_of_tiny_components_are_cut_and_named() -> None:
    clique = Network.from_edges([(i, j) for i in range(200) for j in range(i)], 200)
    crumbs = Network.from_edges([(i, i + 1) for i in range(0, 3000, 2)], 3000)
    settings = config("partition.n_max=1200", "partition.n_min=100", "mgcn.steps=5", "mgcn.held_out=0")
    made = embed_networks([Source(crumbs, NO_ANCHORS, 0, "crumbs")], settings)[0]
    assert made.vectors.shape == (3000, 16), "the sketch's columns and the parts'"
    assert made.parts.count >= 3
    small = config("partition.n_max=80", "partition.n_min=10", "mgcn.held_out=0")
    heard: list[str] = []
    context = RunContext(progress=Listener(heard))
    # Nobody in a clique can be told from another: cut as it must be, and then refused in one line.
    with pytest.raises(KedgeError, match="the embedding of part 1 of the clique collapsed"):
        embed_networks([Source(clique, NO_ANCHORS, 0, "the clique")], small, context)
    assert "the clique: Louvain cannot split a part of 200 accounts" in " ".join(heard)


@pytest.mark.parametrize("gate", ["learned", "fixed"])
def test_the_course_of_the_training_and_the_weights_of_the_levels_are_noted_and_cached(gate: str) -> None:
    noted: list[str] = []

    class Listening(Silent):
        def note(self, text: str) -> None:
            noted.append(text)

    config = resolve(assignments=[*SMALL, f"mgcn.gate={gate}"])
    source = Source(communities(300, 15, 0.8, 0.005, 0), NO_ANCHORS, 0, "this one")
    cache = MemoryCache()
    made, again = (embed_network(source, config, RunContext(cache, Listening())) for _ in range(2))
    assert made.parts.count > 1
    assert again.levels == made.levels
    assert len(made.levels) == made.parts.count
    assert made.level_shares is not None
    simple, upper = made.level_shares
    assert (simple, upper) == (1.0, 0.33) if gate == "fixed" else 0 < upper < simple < 1
    assert made.curve[-1] == pytest.approx(
        np.average([curve[-1] for curve in made.losses], weights=np.bincount(made.parts.part)), abs=1e-4
    )
    (line,) = [note for note in noted if note.startswith("this one: loss ")]
    assert f"(trivial loss {made.trivial:.3f})" in line
    assert f"simple level {simple:.2f}, by the hypergraph level {upper:.2f}" in line


def test_a_cache_returns_pieces_exactly(tmp_path: Path) -> None:
    said: list[str] = []
    cache = DiskCache(tmp_path / "cache", said.append)
    piece = CacheEntry(
        {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "none": np.empty(0, np.int64)}, {"a": [1, None]}
    )
    assert cache.get("k") is None
    cache.put("k", piece)
    held = DiskCache(tmp_path / "cache", said.append).get("k")
    assert held is not None
    assert held.facts == piece.facts
    assert all(np.array_equal(held.arrays[name], piece.arrays[name]) for name in piece.arrays)
    (tmp_path / "cache" / "other.safetensors").write_bytes((tmp_path / "cache" / "k.safetensors").read_bytes())
    assert cache.get("other") is None, "a file under another's name is not trusted"
    cache.sweep()
    assert [path.stem for path in (tmp_path / "cache").iterdir()] == ["k"]
    cache.clear()
    assert not (tmp_path / "cache").exists()


def test_a_network_that_collapsed_is_refused_by_name() -> None:
    # From a sketch even no training at all would know something.
    collapsing = config("mgcn.learning_rate=1e-9", "mgcn.steps=3", "partition.shared_by=bridges")
    with pytest.raises(KedgeError, match=r"the embedding of part 1 of the network collapsed"):
        embed_network(Source(communities(300, 6, 0.15, 0.01, 0), NO_ANCHORS, 0), collapsing)


def test_a_part_that_collapsed_does_not_cost_the_others() -> None:
    rng = np.random.default_rng(0)
    social = communities(300, 6, 0.2, 0.01, 0)
    pairs = np.argwhere(np.triu(social.adjacency.toarray(), 1))
    hall = [(300 + i, 300 + j) for i in range(120) for j in range(i)]  # all know each other: nothing to tell apart
    doors = np.stack([rng.integers(0, 300, 10), rng.integers(300, 420, 10)], axis=1)
    network = Network.from_edges(np.concatenate([pairs, hall, doors]), 420)
    made = embed_network(Source(network, NO_ANCHORS, 0), config("partition.shared=8"))
    assert "collapsed" in " ".join(made.notes)
    assert made.vectors[:300].any(axis=1).mean() > 0.5
