"""Only regular files are written and read: no link is followed, no FIFO replaced, and refusals come before the work."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from command import kedge, match_words

from kedge.errors import KedgeError
from kedge.store import DECISIONS_FILE, lock_run, refuse_directory, refuse_overwrite, write_atomically
from kedge.store.decisions import DecisionLog

ASSETS = Path(__file__).parents[1] / "assets"
PAIR = ASSETS / "run-format-4" / "pair"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="FIFOs and links of POSIX")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ASSETS / "run-format-6" / "kedge", tmp_path / "run"))


@pytest.fixture
def places(tmp_path: Path) -> Path:
    folder = tmp_path / "places"
    folder.mkdir()
    os.mkfifo(folder / "fifo.csv")
    (folder / "link-to-fifo.csv").symlink_to("fifo.csv")
    (folder / "dangling.csv").symlink_to("nowhere")
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "mine.txt").write_text("mine")
    (folder / "link-to-mine.csv").symlink_to("mine.txt")
    (folder / "folder.csv").mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fifo.csv", "is a FIFO"),
        ("link-to-fifo.csv", "is a symbolic link"),
        ("dangling.csv", "is a symbolic link"),
        ("loop.csv", "is a symbolic link"),
        ("link-to-mine.csv", "is a symbolic link"),
        ("folder.csv", "is a directory"),
        (f"{'n' * 300}.csv", "has too long a name"),
        ("loop.csv/out.csv", "loop"),
        ("mine.txt/out.csv", "lies below a file"),
        ("nowhere/out.csv", "the directory does not exist"),
    ],
)
def test_an_output_that_is_no_file_is_refused_before_any_work(
    run: Path, places: Path, name: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kedge.pipeline.load_crosswalk", lambda *_: pytest.fail("work came first"))
    before = {path.name: path.lstat().st_mode for path in places.iterdir()}
    error = kedge("export", run, "-o", places / name, "--force", code=2).stderr
    assert reason in error
    assert error.count("\n") == 1
    assert {path.name: path.lstat().st_mode for path in places.iterdir()} == before
    assert (places / "mine.txt").read_text() == "mine"
    with pytest.raises(KedgeError):
        write_atomically(places / name, lambda file: file.write(b"x"))
    assert stat.S_ISFIFO((places / "fifo.csv").lstat().st_mode)


@pytest.mark.parametrize("name", ["fifo.csv", "dangling.csv", "loop.csv", "n" * 300, "mine.txt/run"])
def test_a_run_directory_that_cannot_be_made_is_refused_before_the_inputs_are_read(places: Path, name: str) -> None:
    words = ["match", "no-left.csv", "no-right.csv", "-a", "no-anchors.csv", "-o", places / name]
    error = kedge(*words, code=2).stderr
    assert name in error
    assert "no-left.csv" not in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["fifo.csv", "dangling.csv", "loop.csv", "n" * 300, "mine.txt/made"])
def test_an_output_directory_that_cannot_be_made_is_refused_before_any_work(
    run: Path, places: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for work in (
        "synthetic.planted",
        "store.load_contents",
        "experiments.run_experiment",
        "experiments.compare_methods",
    ):
        monkeypatch.setattr(f"kedge.{work}", lambda *_: pytest.fail("work came first"))
    pair = [PAIR / "left.tsv", PAIR / "right.tsv", "--anchors", PAIR / "train.tsv", "--methods", "percolation"]
    for words in (
        ["synth", "-o"],
        ["report", run, "--figures"],
        ["reproduce", "sparsity", "-m", "gcn", "--source", "planted", "-o"],
        ["compare", *pair, "-o"],
    ):
        error = kedge(*words, places / name, code=2).stderr
        assert name in error
        assert error.count("\n") == 1, error
    assert not (run / "report.html").exists()


def test_a_fifo_among_the_files_to_be_written_is_found_first(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (places / "fifo.csv").rename(places / "train.tsv")
    monkeypatch.setattr("kedge.synthetic.planted", lambda *_: pytest.fail("work came first"))
    assert "train.tsv: is a FIFO" in kedge("synth", "-o", places, "--force", code=2).stderr


def test_looking_at_a_directory_leaves_none(tmp_path: Path) -> None:
    refuse_directory(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_bad_input_leaves_no_directory(tmp_path: Path) -> None:
    words = ["match", tmp_path / "no.csv", tmp_path / "no.csv", "-a", tmp_path / "no.csv", "-o", tmp_path / "a" / "run"]
    kedge(*words, code=2)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_without_permission_is_refused_before_any_work(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> tuple[int, str]:
        raise PermissionError(13, "Permission denied")  # root may write anywhere, so the mode of a folder shows nothing

    monkeypatch.setattr("tempfile.mkstemp", forbidden)
    monkeypatch.setattr("kedge.pipeline.load_crosswalk", lambda *_: pytest.fail("work came first"))
    assert "may not be written" in kedge("export", run, "-o", tmp_path / "out.csv", code=2).stderr


@pytest.mark.parametrize("name", [".lock", DECISIONS_FILE, "manifest.json", "matches.parquet", "networks"])
def test_links_inside_a_run_are_not_followed(run: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    if (run / name).exists():
        (run / name).rename(outside)
    else:
        outside.write_text("mine")
    (run / name).symlink_to(outside)
    before = None if outside.is_dir() else outside.read_bytes()
    error = kedge("purge", "--yes", run, "a000020", code=2).stderr
    assert "is a symbolic link" in error
    assert name in error
    assert before is None or outside.read_bytes() == before


def test_a_fifo_in_the_place_of_a_file_does_not_block(run: Path) -> None:
    for name in ("decided.json", "manifest.json"):
        (run / name).unlink()
        os.mkfifo(run / name)
        assert name in kedge("explain", run, "a000020", "b000007", code=2).stderr


def test_what_a_killed_command_left_is_removed_and_what_a_living_one_writes_is_not(run: Path, tmp_path: Path) -> None:
    (tmp_path / ".kedge-tmp-dead").write_bytes(b"half")

    def write(file: object) -> None:
        kedge("export", run, "-o", tmp_path / "other.csv")
        assert len(list(tmp_path.glob(".kedge-tmp-*"))) == 1, "ours, which is being written"

    write_atomically(tmp_path / "out.csv", write)
    assert not list(tmp_path.glob(".kedge-tmp-*"))
    assert (tmp_path / "out.csv").exists()
    refuse_overwrite(tmp_path / "new.csv", force=False)
    assert not list(tmp_path.glob(".kedge-tmp-*"))


def test_a_match_reads_nothing_of_a_run_that_another_process_holds(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DecisionLog, "__init__", lambda *_: pytest.fail("read before the lock was taken"))
    with lock_run(run):
        assert "another kedge" in kedge(*match_words(PAIR, run), code=2).stderr
