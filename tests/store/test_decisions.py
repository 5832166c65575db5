"""The log of decisions: replay, undo, contradictions, agreement, the hash chain, and kills at random moments."""

from __future__ import annotations

import signal
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import Forked
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tampering import sql, update
from writers import write_decisions

from kedge.answers import agreement, replay
from kedge.errors import KedgeError
from kedge.store import Head, read_decisions
from kedge.store.decision_head import head_file, read_head, write_head
from kedge.store.decisions import Conflict, DecisionLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    opened = DecisionLog(tmp_path / "decisions.sqlite")
    yield opened
    opened.close()


def test_a_verdict_stands_until_it_is_replaced_or_undone(log: Any) -> None:
    log.append("ann", "yes", "a", "x", note="same avatar")
    log.append("ann", "no", "a", "x")
    assert log.state.verdict(("a", "x")) == "no"
    log.undo("ann")
    assert log.state.verdict(("a", "x")) == "yes", "the verdict before comes back"
    log.undo("ann")
    assert log.state.verdict(("a", "x")) is None
    assert log.undo("ann") is None, "nothing is left"
    assert [entry.action for entry in log.state.entries] == ["yes", "no", "undo", "undo"], "and nothing was removed"
    assert log.verify() == 4


def test_undo_takes_back_any_own_entry_and_no_other(log: Any) -> None:
    first = log.append("ann", "yes", "a", "x")
    log.append("ann", "no", "b", "y")
    log.append("bob", "no", "a", "x")
    log.undo("ann", first.seq)
    assert log.state.verdict(("a", "x")) == "no"
    assert log.state.verdict(("b", "y")) == "no"
    for seq in (3, 4, 99, 0, -1):
        with pytest.raises(Conflict):
            log.undo("ann", seq)
    with pytest.raises(Conflict, match="undone already"):
        log.undo("ann", first.seq)
    assert log.verify() == 4


def test_reviewers_together(log: Any) -> None:
    log.append("ann", "yes", "a", "x")
    log.append("bob", "unsure", "a", "x")
    assert log.state.verdict(("a", "x")) == "yes", "unsure does not outweigh"
    log.append("bob", "no", "a", "x")
    assert log.state.verdict(("a", "x")) == "disputed"
    resolved = log.state.resolved()
    assert resolved.confirmed == resolved.rejected == ()
    assert resolved.disputed == (("a", "x"),)


def test_an_account_confirmed_twice_is_a_contradiction_and_is_not_exported(log: Any) -> None:
    log.append("ann", "yes", "a", "x")
    log.append("ann", "yes", "a", "y")
    log.append("ann", "yes", "b", "z")
    log.append("ann", "no", "c", "z")
    found = log.state.contradictions()
    assert [(c.side, c.account, c.partners) for c in found] == [("left", "a", ("x", "y"))]
    assert log.state.resolved().confirmed == (("b", "z"),)
    assert log.state.resolved().rejected == (("c", "z"),)
    log.undo("ann", 2)
    assert log.state.contradictions() == []
    assert log.state.resolved().confirmed == (("a", "x"), ("b", "z"))


def test_the_digest_follows_what_a_match_learns_and_nothing_else(log: Any) -> None:
    log.append("ann", "yes", "a", "x")
    before = log.state.resolved().digest
    log.append("ann", "unsure", "b", "y")
    log.append("bob", "yes", "a", "x", note="so say I")
    assert log.state.resolved().digest == before
    log.append("ann", "no", "b", "y")
    assert log.state.resolved().digest != before


def test_the_same_request_twice_is_one_decision(log: Any) -> None:
    first = log.append("ann", "yes", "a", "x", key="k-1", seen=0)
    again = log.append("ann", "yes", "a", "x", key="k-1", seen=0)
    assert first == again
    taken_back = log.undo("ann", key="k-2")
    assert log.undo("ann", key="k-2") == taken_back
    assert log.verify() == 2


def test_a_decision_that_another_tab_made_first_is_a_conflict(log: Any, tmp_path: Path) -> None:
    other = DecisionLog(log.path)
    other.append("ann", "yes", "a", "x", seen=0)
    with pytest.raises(Conflict):
        log.append("ann", "no", "a", "x", seen=0)
    log.append("bob", "no", "a", "x", seen=0)
    entry = log.append("ann", "no", "a", "x", seen=1)
    assert other.refresh().current("ann", ("a", "x")) == entry
    other.close()
    assert log.verify() == 3


def test_kappa_by_hand(log: Any) -> None:
    # Rows ann, columns bob: yes/yes 4, yes/no 1, no/no 3, no/yes 2; chance = (5*6 + 5*4) / 100 = 0.5.
    votes = ["yes yes"] * 4 + ["yes no"] + ["no no"] * 3 + ["no yes"] * 2
    for i, vote in enumerate(votes):
        for who, verdict in zip(("ann", "bob"), vote.split(), strict=True):
            log.append(who, verdict, f"a{i}", "x")
    log.append("ann", "yes", "alone", "x")
    (found,) = agreement(log.state)
    assert (found.both, found.same) == (10, 7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / 0.5)
    assert found.table["no"]["yes"] == 2


def test_kappa_is_undefined_where_chance_explains_all(log: Any) -> None:
    for who in ("ann", "bob"):
        log.append(who, "yes", "a", "x")
    (found,) = agreement(log.state)
    assert found.kappa is None


def test_rows_cannot_be_changed_and_a_forger_is_named(log: Any) -> None:
    for i in range(5):
        log.append("ann", "yes", f"a{i}", f"x{i}", note="n")
    db = sqlite3.connect(log.path)
    for attack in ("UPDATE decisions SET action = 'no' WHERE seq = 3", "DELETE FROM decisions WHERE seq = 3"):
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            db.execute(attack)
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        db.execute("INSERT OR REPLACE INTO decisions SELECT 3, time, reviewer, 'no', left, right, note, undoes, run, "
                   "'k', 's', 's', 'p', 'h' FROM decisions WHERE seq = 3")  # fmt: skip
    db.close()
    update("action = 'no'")(log.path.parent)
    with pytest.raises(KedgeError, match="decision 3 was changed"):
        log.verify()
    with pytest.raises(KedgeError, match="decision 3 was changed"):
        DecisionLog(log.path)
    update("action = 'yes'")(log.path.parent)
    assert log.verify() == 5
    sql("DELETE FROM decisions WHERE seq = 2")(log.path.parent)
    with pytest.raises(KedgeError, match="decision 2"):
        log.verify()


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_every_column_is_covered_by_the_hash(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    log = DecisionLog(tmp_path_factory.mktemp("log") / "decisions.sqlite")
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    for _ in range(3):
        log.append(data.draw(text), "yes", data.draw(text), data.draw(text), note=data.draw(text))
    assert log.verify() == 3
    column = data.draw(st.sampled_from("time reviewer left right note run key salt seal previous hash".split()))
    update(f"{column} = {column} || '!'", 2)(log.path.parent)
    with pytest.raises(KedgeError, match="decision [23] was changed"):
        log.verify()
    log.close()


def test_a_person_is_forgotten_and_the_chain_still_verifies(log: Any) -> None:
    log.append("ann", "yes", "alice-f", "alice-t", note="alice wrote it herself")
    kept = log.append("ann", "no", "bob-f", "alice-t")
    log.append("bob", "yes", "carol-f", "carol-t")
    log.append("bob", "no", "alice-f", "carol-t")
    log.undo("bob")
    head = log.head
    assert log.forget(0, "alice-f", by="purge") == [1, 4, 5]
    assert log.forget(0, "alice-f", by="purge") == [], "there is nothing left to forget"
    assert log.verify() == 6
    assert log.state.entries[4].hash == head, "who noted the head before can still find it"
    assert log.state.resolved().confirmed == (("carol-f", "carol-t"),)
    assert log.state.resolved().rejected == (kept.pair,)
    assert [log.state.entries[i].pair for i in (0, 3, 4)] == [("", "")] * 3
    assert log.undo("ann", 2).undoes == 2, "the rest goes on as before"
    with pytest.raises(Conflict):
        log.undo("ann", 1)
    log.close()
    again = DecisionLog(log.path)
    assert again.verify() == 7
    assert again.state.resolved() == log.state.resolved()
    again.close()
    for path in log.path.parent.iterdir():
        assert b"alice-f" not in path.read_bytes(), path.name
        assert b"herself" not in path.read_bytes(), path.name


def test_words_taken_out_without_a_purge_are_noticed(log: Any) -> None:
    for i in range(3):
        log.append("ann", "yes", f"a{i}", f"x{i}")
    log.forget(0, "a0", by="purge")
    update("\"left\" = '', \"right\" = '', note = '', salt = ''", 2)(log.path.parent)
    with pytest.raises(KedgeError, match="decision 2 was changed"):
        log.verify()
    update("\"left\" = 'other'", 1)(log.path.parent)  # new words in a forgotten row
    with pytest.raises(KedgeError, match="decision 1 was changed"):
        log.verify()


def test_a_log_of_another_version_is_refused(log: Any) -> None:
    log._db.execute("PRAGMA user_version = 1")
    with pytest.raises(KedgeError, match="another version"):
        DecisionLog(log.path)


def test_a_key_stands_for_one_request(log: Any) -> None:
    first = log.append("ann", "yes", "a", "x", note="n", key="k-1")
    for who, verdict, left, note in (("bob", "yes", "a", "n"), ("ann", "no", "a", "n"), ("ann", "yes", "b", "n"),
                                     ("ann", "yes", "a", "other")):  # fmt: skip
        with pytest.raises(Conflict, match="another request"):
            log.append(who, verdict, left, "x", note=note, key="k-1")
    with pytest.raises(Conflict, match="another request"):
        log.undo("ann", key="k-1")
    log.undo("ann", 1, key="k-2")
    with pytest.raises(Conflict, match="another request"):
        log.undo("ann", 2, key="k-2")
    assert log.append("ann", "yes", "a", "x", note="n", key="k-1") == first
    assert log.verify() == 2


def test_a_check_sees_what_another_process_wrote_a_moment_ago(log: Any) -> None:
    other = DecisionLog(log.path)

    def check() -> None:
        if log.state.partners(0, "a"):
            raise ValueError("confirmed already")

    other.append("bob", "yes", "a", "y")
    assert not log.state.entries, "this one has not looked since"
    with pytest.raises(ValueError, match="confirmed already"):
        log.append("ann", "yes", "a", "x", check=check)
    other.close()
    assert log.verify() == 1
    assert log.append("ann", "no", "a", "x").seq == 2, "the refusal has let go of the log"


def test_a_log_that_was_exchanged_takes_no_more(log: Any, tmp_path: Path) -> None:
    log.append("ann", "yes", "a", "x")
    other = DecisionLog(tmp_path / "other.sqlite")
    other.append("ann", "yes", "a", "x")
    other.close()
    (tmp_path / "other.sqlite").rename(log.path)
    for act in (log.refresh, lambda: log.append("ann", "no", "b", "y"), lambda: log.undo("ann")):
        with pytest.raises(KedgeError, match="replaced or cut"):
            act()


def test_rows_cut_under_an_open_log_are_noticed(log: Any, tmp_path: Path) -> None:
    for i in range(3):
        log.append("ann", "yes", f"a{i}", "x")
    sql("DELETE FROM decisions WHERE seq = 3")(tmp_path)
    with pytest.raises(KedgeError, match="replaced or cut"):
        log.append("ann", "no", "b", "y")


def test_a_log_of_the_version_before_gets_its_head(log: Any, tmp_path: Path) -> None:
    log.append("ann", "yes", "a", "x")
    log._db.execute("PRAGMA user_version = 2")
    log.close()
    head_file(log.path).unlink()
    again = DecisionLog(log.path)
    assert read_head(log.path) == Head(1, again.head)
    again.close()
    head_file(log.path).unlink()
    with pytest.raises(KedgeError, match="head is gone"):
        DecisionLog(log.path)
    DecisionLog(log.path, outside=again.head).close()
    assert DecisionLog(log.path).verify() == 1, "a head that the user saved restores the record"


def test_a_record_that_is_behind_after_a_kill_catches_up(log: Any) -> None:
    for i in range(3):
        log.append("ann", "yes", f"a{i}", "x")
    write_head(log.path, Head(1, log.state.entries[0].hash))
    log.close()
    again = DecisionLog(log.path)
    assert read_head(log.path) == again.newest
    again.close()


def test_a_purge_is_refused_while_a_reader_keeps_the_old_words(log: Any) -> None:
    log.append("ann", "yes", "alice", "x")
    log._db.execute("PRAGMA busy_timeout = 10")
    reader = sqlite3.connect(log.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM decisions").fetchone()
    with pytest.raises(KedgeError, match="another program is reading the decisions"):
        log.forget(0, "alice", by="purge")
    reader.close()
    assert log.forget(0, "alice", by="purge") == [], "the rows are forgotten, and now their old pages too"
    for path in log.path.parent.iterdir():
        assert b"alice" not in path.read_bytes(), path.name


def test_only_the_owner_may_read_the_file(log: Any) -> None:
    log.append("ann", "yes", "a", "x")
    for path in log.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def test_a_file_that_is_no_log_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "decisions.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(KedgeError, match="cannot be opened"):
        DecisionLog(path)
    assert read_decisions(tmp_path / "nowhere") is None


class Replay(RuleBasedStateMachine):
    """The log against the plainest model: a list of live decisions."""

    pairs = st.sampled_from([(a, x) for a in "ab" for x in "xy"])
    who = st.sampled_from(["ann", "bob"])

    @initialize()
    def start(self) -> None:
        import tempfile
        from pathlib import Path

        self.folder = tempfile.TemporaryDirectory()
        self.log = DecisionLog(Path(self.folder.name) / "d.sqlite")
        self.live: list[tuple[int, str, tuple[str, str], str]] = []
        self.rows = 0

    @rule(who=who, pair=pairs, verdict=st.sampled_from(["yes", "no", "unsure"]))
    def decide(self, who: Any, pair: Any, verdict: Any) -> None:
        entry = self.log.append(who, verdict, *pair)
        self.rows += 1
        assert entry.seq == self.rows
        self.live.append((entry.seq, who, pair, verdict))

    @rule(who=who)
    def undo(self, who: Any) -> None:
        own = [row for row in self.live if row[1] == who]
        entry = self.log.undo(who)
        assert (entry is None) == (not own)
        if own:
            assert entry.undoes == own[-1][0]
            self.live.remove(own[-1])
            self.rows += 1

    @rule()
    def restart(self) -> None:
        path = self.log.path
        self.log.close()
        self.log = DecisionLog(path)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "log"):
            return
        said: dict[tuple[str, str], dict[str, str]] = {}
        for _, who, pair, verdict in self.live:
            said.setdefault(pair, {})[who] = verdict
        for pair in [(a, x) for a in "ab" for x in "xy"]:
            votes = set(said.get(pair, {}).values())
            expected = (
                "disputed" if {"yes", "no"} <= votes else next((v for v in ("yes", "no", "unsure") if v in votes), None)
            )
            assert self.log.state.verdict(pair) == expected
        for side in (0, 1):
            for account in "abxy":
                partners = {p[1 - side] for p in said if p[side] == account and self.log.state.verdict(p) == "yes"}
                assert self.log.state.partners(side, account) == partners
        assert replay(self.log.state.entries).resolved() == self.log.state.resolved()

    def teardown(self) -> None:
        if hasattr(self, "log"):
            assert self.log.verify() == self.rows
            self.log.close()
            self.folder.cleanup()


TestReplay = Replay.TestCase
TestReplay.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)


def test_a_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "decisions.sqlite"
    rng = np.random.default_rng(0)
    acknowledged: dict[int, str] = {}
    for turn in range(6):
        writer = Forked(write_decisions, path, str(turn))
        lines = [writer.output.readline() for _ in range(rng.integers(1, 20))]
        time.sleep(float(rng.uniform(0, 0.02)))
        writer.send_signal(signal.SIGKILL)
        for line in [*lines, *writer.end()[1].splitlines()]:
            if len(line.split()) == 2 and len(line.split()[1]) == 64:
                acknowledged[int(line.split()[0])] = line.split()[1]
        log = DecisionLog(path)
        assert log.verify() >= max(acknowledged, default=0)
        assert {entry.seq: entry.hash for entry in log.state.entries}.items() >= acknowledged.items()
        log.close()
    assert len(acknowledged) > 20


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "decisions.sqlite"
    writers = [Forked(write_decisions, path, str(i), 39) for i in range(2)]
    assert [writer.end()[0] for writer in writers] == [0, 0]
    log = DecisionLog(path)
    assert log.verify() == len(log.state.entries) == 78
    log.close()
