"""Every known way to tamper with the log of decisions is refused, or named as one that needs an outside head."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command import kedge, kedge_code
from tampering import RECORDED, ROWS, TAMPERINGS, Tampering, head_of, make_run

from kedge.errors import KedgeError
from kedge.store import open_decisions, read_decisions, read_manifest


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_run(folder)
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy" / "run"


@pytest.mark.parametrize("tampering", TAMPERINGS, ids=lambda one: one.name.replace(" ", "-"))
def test_tampering_is_noticed(run: Path, tampering: Tampering) -> None:
    head = head_of(run)
    tampering.act(run)
    plain = kedge_code("decisions", run, "verify")
    assert plain.exit_code == (2 if tampering.noticed == "always" else 0), plain.output
    if tampering.noticed == "always":
        assert len(plain.stderr.splitlines()) == 1
        for reads in (read_decisions, open_decisions):  # what a match and a review call
            with pytest.raises(KedgeError):
                reads(run)
        return
    informed = kedge_code("decisions", run, "verify", "--head", head)
    if tampering.noticed == "shown":
        assert "1 entries came after the given head" in informed.stdout
    else:
        assert (informed.exit_code, len(informed.stderr.splitlines())) == (2, 1)
        assert "no entry of the log has the head" in informed.stderr


def test_an_untouched_log_verifies_with_every_head_it_had(run: Path) -> None:
    log = open_decisions(run)
    log.close()
    assert read_manifest(run)["decisions"] == {"count": RECORDED, "head": log.state.entries[RECORDED - 1].hash}
    for after, entry in enumerate(reversed(log.state.entries)):
        printed = kedge("decisions", run, "verify", "--head", entry.hash).stdout
        assert f"{ROWS} entries" in printed
        assert f"{after} entries came after" in printed
    assert "is no head" in kedge("decisions", run, "verify", "--head", "abc", code=2).stderr
    assert "--head is for verify" in kedge("decisions", run, "export", "--head", log.head, code=2).stderr


def test_a_head_is_never_recorded_backwards(run: Path) -> None:
    first, second = open_decisions(run), open_decisions(run)
    first.append("ann", "yes", "b", "y")
    second.append("bob", "no", "b", "y")
    first._record()  # the slower of two processes
    assert head_of(run) == second.head
    first.close()
    second.close()


def test_force_lets_go_of_what_the_manifest_records(run: Path) -> None:
    for file in run.glob("decisions.sqlite*"):
        file.unlink()
    with pytest.raises(KedgeError, match="match --force"):
        read_decisions(run)
    assert read_decisions(run, force=True) is None
