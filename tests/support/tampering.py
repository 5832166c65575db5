"""Ways to tamper with the log of decisions of a run, for the tests and for benchmarks/log_tampering.py."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from kedge.answers import Entry
from kedge.config import Config
from kedge.store import DECISIONS_FILE, Identity, open_decisions, open_run, record_decisions
from kedge.store.decision_head import START, Head, head_file, write_head
from kedge.store.decisions import DecisionLog

Act: TypeAlias = Callable[[Path], object]
EARLIER: Final = "earlier"  # beside the run: its log and head as they were before the manifest recorded them
LATER: Final = "later"  # the same, from between that record and the end
ROWS: Final = 10
RECORDED: Final = 6  # rows that the manifest knows


def make_run(folder: Path) -> Path:
    """A run directory with ten decisions, six of them in its manifest, and two older copies of its log beside it."""
    run = folder / "run"
    with open_run(run, Identity({}, Config().identity())):
        pass
    log = open_decisions(run)
    for i in range(3):
        log.append("ann", "yes", f"a{i}", f"x{i}", note=f"note {i}")
    _copy(run, folder / EARLIER)
    log.undo("ann")
    log.append("bob", "no", "a0", "x1")
    log.append("bob", "unsure", "a1", "x1")
    record_decisions(run, log.newest)
    log.append("bob", "no", "gone", "x9", note="gone for good")
    _copy(run, folder / LATER)
    log.forget(0, "gone", by="purge")
    log.append("ann", "yes", "a8", "x8")
    log.append("ann", "no", "a9", "x9")
    assert log.verify() == ROWS
    log.close()
    return run


def _copy(run: Path, to: Path) -> None:
    to.mkdir()
    with contextlib.closing(sqlite3.connect(run / DECISIONS_FILE)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in (run / DECISIONS_FILE, head_file(run / DECISIONS_FILE)):
        shutil.copy(file, to)


def head_of(run: Path) -> str:
    """The head that a careful user has saved elsewhere."""
    return str(json.loads(head_file(run / DECISIONS_FILE).read_text())["head"])


@contextlib.contextmanager
def unguarded(run: Path, restore: bool = True) -> Iterator[sqlite3.Connection]:
    """The log without its triggers and constraints, which are put back as they were."""
    with contextlib.closing(sqlite3.connect(run / DECISIONS_FILE, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("PRAGMA ignore_check_constraints = ON")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in triggers if restore else ():
            db.execute(sql)


def sql(*statements: str) -> Act:
    """Run statements on the log, around its triggers."""

    def act(run: Path) -> None:
        with unguarded(run) as db:
            for statement in statements:
                db.execute(statement)

    return act


def update(change: str, row: int = 3) -> Act:
    """Change one row."""
    return sql(f"UPDATE decisions SET {change} WHERE seq = {row}")


def plain_sql(*statements: str) -> Act:
    """Run statements on the log as anyone could; they may add objects, or take ours away."""

    def act(run: Path) -> None:
        with contextlib.closing(sqlite3.connect(run / DECISIONS_FILE, isolation_level=None)) as db:
            for statement in statements:
                db.execute(statement)

    return act


def rewrite(change: Callable[[list[Entry]], list[Entry]], *, head: bool = False, manifest: bool = False) -> Act:
    """Change rows and compute every hash again, so that the chain is whole; on request the records follow."""

    def act(run: Path) -> None:
        with unguarded(run) as db:
            entries = change([Entry(*row) for row in db.execute("SELECT * FROM decisions ORDER BY seq")])
            db.execute("DELETE FROM decisions")
            previous = START
            for seq, entry in enumerate(entries, 1):
                entry = replace(entry, seq=seq, previous=previous)
                if not entry.forgotten:
                    entry = replace(entry, seal=entry.expected_seal())
                entry = replace(entry, hash=entry.expected_hash())
                previous = entry.hash
                db.execute(f"INSERT INTO decisions VALUES ({', '.join('?' * 14)})", astuple(entry))
        newest = Head(len(entries), previous)
        if head:
            write_head(run / DECISIONS_FILE, newest)
        if manifest:
            record_decisions(run, newest)

    return act


def both(*acts: Act) -> Act:
    def act(run: Path) -> None:
        for one in acts:
            one(run)

    return act


def remove(*names: str) -> Act:
    def act(run: Path) -> None:
        for name in names:
            (run / name).unlink(missing_ok=True)

    return act


def put(content: bytes, name: str = DECISIONS_FILE) -> Act:
    return both(remove(WAL, SHM), lambda run: (run / name).write_bytes(content))


def take(where: str, *names: str) -> Act:
    """Put an older copy in place."""
    return both(remove(WAL, SHM), lambda run: [shutil.copy(run.parent / where / name, run) for name in names])


def other_log(run: Path) -> None:
    """A sound log of another run, with its own head."""
    other = run.parent / "other"
    other.mkdir()
    log = DecisionLog(other / DECISIONS_FILE)
    for i in range(20):
        log.append("eve", "yes", f"e{i}", f"f{i}")
    log.close()
    for name in (DECISIONS_FILE, HEAD):
        shutil.move(other / name, run / name)


def new_log(run: Path) -> None:
    """A log made anew by kedge itself, in the place of ours."""
    remove(DECISIONS_FILE, WAL, SHM, HEAD)(run)
    DecisionLog(run / DECISIONS_FILE).close()


def symlink(run: Path) -> None:
    (run / DECISIONS_FILE).rename(run / "elsewhere")
    (run / DECISIONS_FILE).symlink_to("elsewhere")


def directory(run: Path) -> None:
    (run / DECISIONS_FILE).unlink()
    (run / DECISIONS_FILE).mkdir()


def flip(run: Path) -> None:
    """One bit in the page with the rows: in the note of the first decision."""
    path = run / DECISIONS_FILE
    data = bytearray(path.read_bytes())
    data[data.index(b"note 0")] ^= 1
    path.write_bytes(data)


def garble_name(run: Path) -> None:
    """One bit in the name of a trigger, which is no UTF-8 then."""
    path = run / DECISIONS_FILE
    data = bytearray(path.read_bytes())
    data[data.index(b"decisions_no_gap")] ^= 0x80
    path.write_bytes(data)


def half(run: Path) -> None:
    path = run / DECISIONS_FILE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def append_row(**changes: Any) -> Callable[[list[Entry]], list[Entry]]:
    base = Entry(time="2026-01-01T00:00:00Z", reviewer="ann", action="yes", left="l", right="r", key="k", salt="s")
    return lambda entries: [*entries, replace(base, **changes)]


def no_to_yes(entries: list[Entry]) -> list[Entry]:
    return [replace(e, action="yes") if e.seq == 5 else e for e in entries]


HEAD, WAL, SHM = (f"{DECISIONS_FILE}-{kind}" for kind in ("head", "wal", "shm"))
Noticed = Literal["always", "with an outside head", "shown"]


@dataclass(frozen=True)
class Tampering:
    """A way to tamper, and when it is noticed; `shown`: the entries after the saved head are counted for the user."""

    name: str
    act: Act
    noticed: Noticed = "always"


_TRIGGER = "CREATE TRIGGER {} ON decisions BEGIN SELECT 1; END"
TAMPERINGS: Final = (
    Tampering("verdict changed", update("action = 'no'")),
    Tampering("reviewer changed", update("reviewer = 'eve'")),
    Tampering("left id changed", update("\"left\" = 'e'")),
    Tampering("right id changed", update("\"right\" = 'e'")),
    Tampering("note changed", update("note = 'e'")),
    Tampering("time changed", update("time = '2020-01-01T00:00:00Z'")),
    Tampering("run changed", update("run = 'e'")),
    Tampering("key changed", update("key = 'e'")),
    Tampering("target of an undo changed", update("undoes = 1", 4)),
    Tampering("salt changed", update("salt = 'e'")),
    Tampering("seal changed", update("seal = 'e'")),
    Tampering("hash changed", update("hash = 'e'")),
    Tampering("previous hash changed", update("previous = 'e'")),
    Tampering("two rows exchanged", sql("UPDATE decisions SET seq = -1 WHERE seq = 2",
              "UPDATE decisions SET seq = 2 WHERE seq = 3", "UPDATE decisions SET seq = 3 WHERE seq = -1")),
    Tampering("rows renumbered", sql("UPDATE decisions SET seq = seq + 5 WHERE seq > 9")),
    Tampering("first row removed", sql("DELETE FROM decisions WHERE seq = 1")),
    Tampering("middle row removed", sql("DELETE FROM decisions WHERE seq = 5")),
    Tampering("last row removed", sql("DELETE FROM decisions WHERE seq = 10")),
    Tampering("last eight rows removed", sql("DELETE FROM decisions WHERE seq > 2")),
    Tampering("all rows removed", sql("DELETE FROM decisions")),
    Tampering("row added without a chain", sql("INSERT INTO decisions SELECT 11, time, reviewer, action, \"left\", "
              "\"right\", note, undoes, run, 'k', salt, seal, 'p', 'h' FROM decisions WHERE seq = 1")),
    Tampering("words removed without a purge", update("\"left\" = '', \"right\" = '', note = '', salt = ''")),
    Tampering("words put into a purged row", update("\"left\" = 'e'", 7)),
    Tampering("purge that names other rows", update("note = '[1]'", 8)),
    Tampering("note as a blob", update("note = x'00ff'")),
    Tampering("note that is no UTF-8", update("note = CAST(x'ff' AS TEXT)")),
    Tampering("column of another type", sql("PRAGMA writable_schema = ON",
              "UPDATE sqlite_master SET sql = replace(sql, 'note TEXT', 'note BLOB') WHERE name = 'decisions'")),
    Tampering("verdict changed, chain computed again", rewrite(no_to_yes)),
    Tampering("last row replaced, chain computed again", rewrite(lambda es: append_row(key="e")(es[:-1]))),
    Tampering("undo of another's decision added to the chain",
              rewrite(append_row(reviewer="eve", action="undo", undoes=1, left="a0", right="x0"), head=True)),
    Tampering("undo of an undo added to the chain",
              rewrite(append_row(action="undo", undoes=4, left="a2", right="x2"), head=True)),
    Tampering("unknown verdict added to the chain", rewrite(append_row(action="maybe"), head=True)),
    Tampering("purge without a list added to the chain", rewrite(append_row(action="purge", note="{"), head=True)),
    Tampering("log removed", remove(DECISIONS_FILE, WAL, SHM)),
    Tampering("log and its head removed", remove(DECISIONS_FILE, WAL, SHM, HEAD)),
    Tampering("log emptied", put(b"")),
    Tampering("log cut in half", half),
    Tampering("log replaced by text", put(b"decisions\n" * 500)),
    Tampering("one bit flipped", flip),
    Tampering("one bit flipped in a name", garble_name),
    Tampering("log replaced by a new one", new_log),
    Tampering("log replaced by another run's", other_log),
    Tampering("log replaced by a symbolic link", symlink),
    Tampering("log replaced by a directory", directory),
    Tampering("log replaced by an older copy", take(LATER, DECISIONS_FILE)),
    Tampering("log and its head replaced by copies older than the manifest", take(EARLIER, DECISIONS_FILE, HEAD)),
    Tampering("trigger added", plain_sql(_TRIGGER.format("e AFTER INSERT"))),
    Tampering("trigger removed", plain_sql("DROP TRIGGER decisions_no_update")),
    Tampering("trigger made harmless",
              plain_sql("DROP TRIGGER decisions_no_delete", _TRIGGER.format("decisions_no_delete BEFORE DELETE"))),
    Tampering("view added", plain_sql("CREATE VIEW e AS SELECT * FROM decisions")),
    Tampering("table added", plain_sql("CREATE TABLE e (x)")),
    Tampering("index added", plain_sql("CREATE INDEX e ON decisions (reviewer)")),
    Tampering("column added", plain_sql("ALTER TABLE decisions ADD COLUMN e TEXT")),
    Tampering("table replaced by a view",
              plain_sql("ALTER TABLE decisions RENAME TO d", "CREATE VIEW decisions AS SELECT * FROM d WHERE seq < 3")),
    Tampering("version of the log changed", plain_sql("PRAGMA user_version = 9")),
    Tampering("head removed", remove(HEAD)),
    Tampering("head damaged", put(b"{", HEAD)),
    Tampering("head of other rows", lambda run: write_head(run / DECISIONS_FILE, Head(2, "e" * 64))),
    # From here on everything inside the directory agrees.
    Tampering("row removed from log and head", rewrite(lambda es: es[:-1], head=True), "with an outside head"),
    Tampering("log and its head replaced by copies newer than the manifest", take(LATER, DECISIONS_FILE, HEAD),
              "with an outside head"),
    Tampering("row removed, head removed, log declared an old one",
              both(sql("DELETE FROM decisions WHERE seq = 10", "PRAGMA user_version = 2"), remove(HEAD)),
              "with an outside head"),
    Tampering("log, head and manifest rewritten", rewrite(no_to_yes, head=True, manifest=True), "with an outside head"),
    Tampering("row added to the chain as kedge would", rewrite(append_row(key="e"), head=True), "shown"),
)  # fmt: skip
