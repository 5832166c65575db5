"""Random damage and random edits of the log of decisions: refused in one line, or harmless. Never a traceback.

Harmless means that every entry reads as before and that the next decision is written. A long form runs where the
environment has KEDGE_FUZZ.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tampering import DECISIONS_FILE, HEAD, make_run, unguarded

from kedge.errors import KedgeError
from kedge.store import open_decisions, read_decisions

EXAMPLES = 2000 if os.environ.get("KEDGE_FUZZ") else 40
fuzzed = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

REST = 'time, reviewer, action, "left", "right", note, undoes, run, key, salt, seal, previous, hash'
COLUMNS = ["seq", *REST.split(", ")]
values = st.one_of(
    st.none(), st.integers(-1, 12), st.binary(max_size=4), st.sampled_from(["", "yes", "undo", "purge", "ann", "[1]"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4), st.floats(allow_nan=False),
)  # fmt: skip
rows = st.integers(0, 12)
edits = st.one_of(
    st.tuples(st.sampled_from(COLUMNS), values, rows).map(
        lambda e: (f"UPDATE OR IGNORE decisions SET {e[0]} = ? WHERE seq = ?", (e[1], e[2]))
    ),
    rows.map(lambda row: ("DELETE FROM decisions WHERE seq = ?", (row,))),
    st.tuples(rows, rows).map(
        lambda e: (f"INSERT OR REPLACE INTO decisions SELECT ?, {REST} FROM decisions WHERE seq = ?", e)
    ),
    st.sampled_from(
        ["DROP TRIGGER IF EXISTS decisions_no_gap", "CREATE INDEX IF NOT EXISTS i ON decisions (note)", "REINDEX",
         "CREATE VIEW IF NOT EXISTS v AS SELECT 1", "PRAGMA user_version = 2", "PRAGMA user_version = 0", "VACUUM",
         "PRAGMA application_id = 7", "ANALYZE", "ALTER TABLE decisions RENAME TO others"]
    ).map(lambda text: (text, ())),
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("made"))


@contextlib.contextmanager
def copy_of(made: Path, folder: Path) -> Any:
    """The run, fresh for every example."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    shutil.copytree(made, folder / "run")
    yield folder / "run"


def refused_or_harmless(run: Path, before: Any) -> bool:
    """Whether it was refused; else nothing has changed and the next decision is taken."""
    try:
        state = read_decisions(run)
        log = open_decisions(run)
    except KedgeError:
        return True
    assert state is not None
    assert state.entries == before
    try:
        log.append("ann", "yes", "next", "one")
    except KedgeError:  # a bit of the header can make a log that is read, but takes no more
        log.close()
        return True
    assert log.verify() == len(before) + 1
    log.close()
    return False


@fuzzed
@given(st.data())
def test_flipped_bits(made: Path, tmp_path: Path, data: Any) -> None:
    before = read_decisions(made).entries
    with copy_of(made, tmp_path) as run:
        path = run / data.draw(st.sampled_from([DECISIONS_FILE, DECISIONS_FILE, DECISIONS_FILE, HEAD]))
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        refused_or_harmless(run, before)


@fuzzed
@given(st.lists(edits, min_size=1, max_size=4), st.booleans())
def test_edits_by_sql(made: Path, tmp_path: Path, chosen: list[tuple[str, tuple[Any, ...]]], restore: bool) -> None:
    before = read_decisions(made).entries
    with copy_of(made, tmp_path) as run:
        # Where the table is renamed, later edits and the triggers fail: what was done before stands.
        with contextlib.suppress(sqlite3.Error), unguarded(run, restore) as db:
            for statement, given_values in chosen:
                with contextlib.suppress(sqlite3.Error):
                    db.execute(statement, given_values)
        refused = refused_or_harmless(run, before)
        assert refused or restore, "a log without its triggers is never taken"


@fuzzed
@given(
    st.binary(max_size=300), st.sampled_from([DECISIONS_FILE, HEAD, f"{DECISIONS_FILE}-wal", f"{DECISIONS_FILE}-shm"])
)
def test_any_bytes_in_the_place_of_a_file(made: Path, tmp_path: Path, content: bytes, name: str) -> None:
    before = read_decisions(made).entries
    with copy_of(made, tmp_path) as run:
        (run / name).write_bytes(content)
        refused = refused_or_harmless(run, before)
        assert refused or name.endswith(("-wal", "-shm")), "a stray journal is ignored, anything else is refused"
