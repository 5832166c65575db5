"""A purge is whole: nothing of the id is left in any file, and a kill leaves all of it or none."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from command import kedge, match_words
from killing import Killed, kill_at
from search import places_of

from kedge.pipeline.purge import purge
from kedge.store import DECISIONS_FILE, decisions, load_contents, read_manifest
from kedge.store.decisions import DecisionLog
from kedge.store.purged import KEY_FILE, PURGED_FILE, _salted

ASSETS = Path(__file__).parents[1] / "assets"
PAIR = ASSETS / "run-format-4" / "pair"
ALICE, PARTNER = "a000020", "b000007"  # decided in the log of the run
WORDS = ["--set", "mgcn.dimensions=16", "--set", "candidates=5"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ASSETS / "run-format-6" / "kedge", tmp_path / "run"))


def test_no_byte_of_the_id_is_left_and_leftovers_go_too(run: Path) -> None:
    (run / "model" / ".kedge-tmp-abc").write_text(ALICE)
    (run / ".purge-draft" / "files").mkdir(parents=True)
    (run / ".purge-draft" / "files" / "old").write_text(ALICE)
    kedge("report", run)
    assert {"matches.parquet", "decisions.sqlite", "networks/left.npz"} <= set(places_of(run, ALICE))
    kedge("purge", "--yes", run, ALICE)
    assert places_of(run, ALICE) == []
    assert not (run / ".purge-draft").exists()


def test_an_id_beyond_ascii_is_gone_and_does_not_come_back(tmp_path: Path) -> None:
    name, data, run = "Jörg-Müß 名前", Path(shutil.copytree(PAIR, tmp_path / "data")), tmp_path / "run"
    for file in data.iterdir():
        file.write_text(file.read_text("utf-8").replace(ALICE, name), "utf-8")
    kedge(*match_words(data, run, *WORDS, "-q"))
    log = DecisionLog(run / DECISIONS_FILE)
    log.append("ann", "yes", name, PARTNER, note=f"{name} it is")
    log.close()
    assert places_of(run, name)
    kedge("purge", "--yes", run, name)
    assert places_of(run, name) == []
    assert "1 purged accounts are still in the files" in kedge(*match_words(data, run, *WORDS)).stderr
    assert places_of(run, name) == []


def test_a_purge_that_is_killed_at_any_step_is_done_by_the_next_command_or_has_not_begun(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fates = []
    for step in (3, 9, 21, *range(28, 80, 4)):
        copy = Path(shutil.copytree(run, tmp_path / f"run{step}"))
        with monkeypatch.context() as patch:
            kill_at(patch, step)
            try:
                purge(copy, ALICE)
                break
            except Killed:
                pass
        contents = load_contents(copy)  # every file that it reads is checked
        left = places_of(copy, ALICE)
        assert (ALICE in contents.problem.left.ids.to_pylist()) == bool(left)
        fates.append(bool(left))
        if left:
            purge(copy, ALICE)
            assert places_of(copy, ALICE) == []
    assert fates == sorted(fates, reverse=True)
    assert len(set(fates)) == 2, "some kills came before the purge counted, some after"


def test_a_program_that_reads_the_decisions_is_named_and_nothing_is_changed(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_BUSY_SECONDS", 0.05)
    log = DecisionLog(run / DECISIONS_FILE)
    log.append("ann", "unsure", "x", "y")
    reader = sqlite3.connect(run / DECISIONS_FILE, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM decisions").fetchone()
    log.append("ann", "unsure", "x", "z")
    log.close()
    before = (run / "manifest.json").read_bytes()
    assert "another program is reading the decisions" in kedge("purge", "--yes", run, ALICE, code=2).stderr
    assert (run / "manifest.json").read_bytes() == before
    reader.close()
    kedge("purge", "--yes", run, ALICE)
    assert places_of(run, ALICE) == []


def test_a_user_without_a_name_can_purge(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", unknown)
    kedge("purge", "--yes", run, ALICE)
    log = DecisionLog(run / DECISIONS_FILE)
    assert log.state.entries[-1].reviewer == f"user {os.getuid()}"
    log.close()


def test_the_list_of_purged_accounts_is_keyed_and_checked(run: Path) -> None:
    kedge("purge", "--yes", run, ALICE)
    held, key = json.loads((run / PURGED_FILE).read_text()), (run / KEY_FILE).read_text()
    assert (run / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert key not in json.dumps(held)
    words = match_words(PAIR, run, *WORDS)
    for file in (PURGED_FILE, KEY_FILE):
        whole = (run / file).read_bytes()
        (run / file).write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
        assert file in kedge(*words, code=2).stderr
        (run / file).unlink()
        assert file in kedge(*words, code=2).stderr
        (run / file).write_bytes(whole)


def test_what_earlier_versions_purged_stays_purged(run: Path) -> None:
    old = {"salt": "s", "left": [_salted("s", "a000003")], "right": []}
    (run / PURGED_FILE).write_text(json.dumps(old))
    kedge("purge", "--yes", run, ALICE)
    assert "2 purged accounts" in kedge(*match_words(PAIR, run, *WORDS)).stderr


def test_an_unfinished_run_is_named(run: Path) -> None:
    from kedge.store import write_manifest

    manifest = read_manifest(run)
    del manifest["stages"]["anchors"]
    write_manifest(run, manifest)
    assert "the run is not finished" in kedge("purge", "--yes", run, ALICE, code=2).stderr
