"""The run directory: atomic, locked, resumable, and never a mixture of two runs."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forked import Forked
from scipy.sparse import csr_array, random_array
from writers import try_to_open, write_files

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.similarity.pair_network import PairNetwork
from kedge.store import (
    ALIGNMENT,
    ARRAYS,
    JSON,
    NETWORK,
    SPARSE,
    TABLE,
    Identity,
    open_run,
    read_manifest,
    refuse_overwrite,
    write_atomically,
)
from kedge.store.layout import Stage
from kedge.types import Network

INPUTS = {"left": {"name": "left.csv", "bytes": 1, "sha256": "aa"}, "right": {"name": "r", "bytes": 1, "sha256": "bb"}}
THINK, ONE, TWO, LAST, GO = (
    Stage(Path(file).stem, "thinking", file, JSON)
    for file in ("answer.json", "one.json", "two.json", "networks/a.json", "model/b.json")
)
SETTINGS = Config.model_validate({"seed": 1}).identity()
ASKED = Identity(INPUTS, SETTINGS)


def test_a_finished_stage_is_loaded_and_not_computed_again(tmp_path: Path) -> None:
    calls = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"answer": 42}

    for _ in range(2):
        with open_run(tmp_path / "run", ASKED) as run:
            assert run.stage(THINK, compute) == {"answer": 42}
    assert calls == [1]
    record = read_manifest(tmp_path / "run")["stages"]["answer"]
    assert record["cpu_seconds"] >= 0
    assert record["peak_mb"] > 0


def test_an_interrupted_stage_is_computed_again_and_finished_ones_are_kept(tmp_path: Path) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), open_run(tmp_path / "run", ASKED) as run:
        run.stage(ONE, lambda: done.append("one"))
        run.stage(TWO, lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with open_run(tmp_path / "run", ASKED) as run:
        run.stage(ONE, lambda: done.append("again"))
        run.stage(TWO, lambda: done.append("two"))
    assert done == ["one", "two"]


@pytest.mark.parametrize("damage", [lambda b: b[:-3], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b""])
def test_a_truncated_or_flipped_artefact_is_noticed_and_computed_again(
    tmp_path: Path, damage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_run(tmp_path / "run", ASKED) as run:
        run.stage(THINK, lambda: {"answer": 42})
    path = tmp_path / "run" / "answer.json"
    path.write_bytes(damage(path.read_bytes()))
    notes: list[str] = []
    with open_run(tmp_path / "run", ASKED) as run:
        monkeypatch.setattr(run.progress, "note", notes.append)
        assert run.stage(THINK, lambda: {"answer": 43}) == {"answer": 43}
    assert "answer.json was damaged" in notes[0]


def test_other_inputs_or_settings_are_refused_with_the_difference_named(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        pass
    other = Identity(
        {**INPUTS, "right": {"name": "r", "bytes": 1, "sha256": "cc"}},
        {**SETTINGS, "seed": 2, "read": {**SETTINGS["read"], "header": "no"}},
    )
    with pytest.raises(KedgeError) as caught, open_run(tmp_path / "run", other):
        pass
    text = str(caught.value)
    assert "right is another file" in text
    assert "seed: 1 -> 2" in text
    assert "read.header: auto -> no" in text
    assert "--force" in text
    with open_run(tmp_path / "run", other, force=True) as run:
        assert run.manifest["config"]["seed"] == 2


def test_two_processes_do_not_share_a_directory(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        _, answer = Forked(try_to_open, tmp_path / "run", ASKED).end()
    assert "another kedge" in answer
    assert str(os.getpid()) in answer


def test_a_directory_that_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(KedgeError, match="not a kedge run"), open_run(tmp_path, ASKED, force=True):
        pass
    assert os.listdir(tmp_path) == ["thesis.txt"]
    with pytest.raises(KedgeError, match="is a file"), open_run(tmp_path / "thesis.txt", ASKED):
        pass


def test_what_a_forgotten_stage_left_is_gone(tmp_path: Path) -> None:
    """Else a run that no longer has the stage would read it as its own."""
    outside = tmp_path / "mine.json"
    outside.write_text("{}")
    grown = Identity({**ASKED.inputs, "decisions": {"name": "log", "bytes": 1, "sha256": "d"}}, ASKED.config)
    with open_run(tmp_path / "run", ASKED) as run:
        run.stage(LAST, lambda: 1)
        run.stage(GO, lambda: 2)
        run.manifest["stages"]["hostile"] = {"artefact": "../mine.json", "bytes": 2, "sha256": "e"}
        run.save_manifest()
    with open_run(tmp_path / "run", grown, lasting=(LAST,)) as run:
        assert not (tmp_path / "run" / "model" / "b.json").exists()
        assert run.stage(LAST, lambda: 3) == 1
    with open_run(tmp_path / "run", ASKED, force=True):
        assert not (tmp_path / "run" / "networks" / "a.json").exists()
    assert outside.exists()


def test_force_starts_anew_where_the_manifest_is_damaged(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        pass
    for text in ("{", '{"format": 0}', "[]"):
        (tmp_path / "run" / "manifest.json").write_text(text)
        with pytest.raises(KedgeError, match="again with --force"), open_run(tmp_path / "run", ASKED):
            pass
        with open_run(tmp_path / "run", ASKED, force=True) as run:
            assert run.stage(GO, lambda: 2) == 2
        with open_run(tmp_path / "run", ASKED) as run:
            assert run.stage(GO, lambda: 3) == 2


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        pass
    (tmp_path / "run" / "manifest.json").write_text("{")
    with pytest.raises(KedgeError, match="manifest is damaged"):
        read_manifest(tmp_path / "run")
    with pytest.raises(KedgeError, match="no such run"):
        read_manifest(tmp_path / "nowhere")


def test_files_are_private_and_exist_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    write_atomically(path, lambda file: file.write(b"old"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def fail(file: Any) -> None:
        file.write(b"new" * 1000)
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.bin"]
    with pytest.raises(KedgeError, match="exists already"):
        refuse_overwrite(path, force=False)
    refuse_overwrite(path, force=True)


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    def full(file: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(KedgeError, match="no space is left"):
        write_atomically(tmp_path / "out", full)
    assert os.listdir(tmp_path) == []


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    rng = np.random.default_rng(0)
    for _ in range(8):
        writer = Forked(write_files, path)
        writer.output.readline()
        while not path.exists():
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0, 0.05)))
        writer.send_signal(signal.SIGKILL)
        writer.end()
        content = path.read_bytes()
        assert len(content) == 9 * 50000
        assert content == content[:9] * 50000


def test_leftovers_of_a_kill_are_cleared_on_the_next_opening(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED):
        pass
    (tmp_path / "run" / ".kedge-tmp-xyz").write_bytes(b"half")
    with open_run(tmp_path / "run", ASKED):
        pass
    assert not (tmp_path / "run" / ".kedge-tmp-xyz").exists()


def test_every_format_gives_back_what_it_was_given(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sparse = csr_array(random_array((7, 5), density=0.4, rng=rng, dtype=np.float32))
    weighted = csr_array(np.array([[0, 2.5], [2.5, 0]], np.float32))
    networks = [
        Network.from_edges([(0, 1), (1, 2)], 4, ["a", "é", "", "x\u202ey"]),
        Network(weighted, pa.array(["skip", "p", "q"], pa.large_string())[1:]),
    ]
    with open_run(tmp_path / "run", ASKED) as run:

        def there_and_back(kind: Any, value: Any) -> Any:
            run.write("value", kind, value)
            return run.artefacts.read("value", kind)

        assert there_and_back(JSON, {"a": [1, None, "ü"]}) == {"a": [1, None, "ü"]}
        assert there_and_back(TABLE, pa.table({"a": ["x", "y"]})).equals(pa.table({"a": ["x", "y"]}))
        assert (there_and_back(ARRAYS, {"x": np.arange(3)})["x"] == np.arange(3)).all()
        assert (there_and_back(SPARSE, sparse) != sparse).nnz == 0
        for network in networks:
            back = there_and_back(NETWORK, network)
            assert back.ids.to_pylist() == network.ids.to_pylist()
            assert (back.adjacency != network.adjacency).nnz == 0
        assert (there_and_back(ALIGNMENT, SparseAlignment(sparse)).scores != sparse).nnz == 0
        assert there_and_back(ALIGNMENT, SparseAlignment(sparse)).strengths is None
        graded = there_and_back(ALIGNMENT, SparseAlignment(sparse, sparse * 2))
        assert (graded.scores != sparse).nnz == 0
        assert (graded.strengths != sparse * 2).nnz == 0
        vectors = VectorAlignment(rng.normal(size=(3, 2)), rng.normal(size=(4, 2)))
        assert np.allclose(there_and_back(ALIGNMENT, vectors).right, vectors.right, atol=1e-7)
        assert there_and_back(ALIGNMENT, vectors).head is None
        beside = there_and_back(ALIGNMENT, SparseAlignment(sparse, None, vectors))
        assert np.allclose(beside.vectors.left, vectors.left, atol=1e-7)
        assert (beside.scores != sparse).nnz == 0
        weights = [rng.normal(size=shape).astype(np.float32) for shape in (4, 4, (4, 3), 3, 3)]
        pairing = PairNetwork("concat", *weights, 0.5, 1.5)
        paired = VectorAlignment(vectors.left, vectors.right, csr_array(([2.0], ([1], [2])), shape=(3, 4)), pairing)
        back, every = there_and_back(ALIGNMENT, paired), np.argwhere(np.ones((3, 4)))
        np.testing.assert_array_equal(back.score(every), paired.score(every))
        np.testing.assert_array_equal(back.log_odds(every), paired.log_odds(every))
        with pytest.raises(ValueError, match="NaN|Out of range"):
            run.write("value", JSON, {"a": float("nan")})
        with pytest.raises((ValueError, TypeError)):
            run.write("value", ARRAYS, {"x": np.array([object()])})


def test_nothing_in_the_directory_is_a_pickle(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", ASKED) as run:
        run.stage(Stage("a", "a", "a.npz", ARRAYS), lambda: {"x": np.arange(3)})
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["run_id"] == ASKED.run_id
    with np.load(tmp_path / "run" / "a.npz", allow_pickle=False) as held:
        assert held["x"].tolist() == [0, 1, 2]
