"""Forget an account: take it out of a run's files and of its decisions, and never let a match bring it back."""

from __future__ import annotations

import csv
import getpass
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge import store
from kedge.ingest import guard_text
from kedge.linalg import without_entries
from kedge.pipeline.inputs import Forgotten, forget_accounts, without_pairs
from kedge.pipeline.match import write_report
from kedge.store.decisions import DecisionLog
from kedge.types import KedgeError, Problem, Profiles

_SIDES: Final = ("left", "right")


@dataclass(frozen=True)
class Purged:
    """What was forgotten. `noted`: decisions about others whose note holds the id; `named`: files that still do."""

    side: str
    edges: int
    anchors: int
    candidates: int
    decisions: int
    noted: tuple[int, ...]
    named: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        return (
            f"forgotten on the {self.side}: {self.edges:,} edges, {self.anchors:,} anchors, "
            f"{self.candidates:,} candidates, {self.decisions:,} entries of the log"
        )

    def notes(self, directory: Path) -> tuple[str, ...]:
        """Where the id still is."""
        places = ", ".join(map(str, self.noted))
        noted = f"notes of decisions about others contain this id, and a note cannot be changed: entries {places}"
        named = (f"{directory / name} still contains this id as text: check it yourself" for name in self.named)
        return (*((noted,) if self.noted else ()), *named)


def check_side(side: str | None) -> None:
    """Refuse a side that there is not."""
    if side not in (None, *_SIDES):
        raise KedgeError(f"no side {side!r}", remedy="choose left or right")


@dataclass(frozen=True)
class _Target:
    """The account to forget: its id, its side (0 is left) and its number there, -1 where only decisions name it."""

    name: str
    side: int
    account: int

    @property
    def forgotten(self) -> Forgotten:
        none = np.empty(0, np.int64)
        mine = none if self.account < 0 else np.array([self.account])
        return (mine, none) if self.side == 0 else (none, mine)


def purge(directory: Path, name: str, side: str | None = None) -> Purged:
    """Take the account `name` out of a run directory; `side` is needed only where both networks have such an id.

    All files change at once or not at all: after a kill, either nothing is changed or the next command completes it.
    The report is written anew.
    """
    store.read_manifest(directory)
    with store.hold_run(directory), store.reviewing(directory, shared=False):
        run = store.open_artefacts(directory)
        if not all(run.has(stage.file) for stage in (*store.NETWORKS, store.ANCHORS)):
            remedy = "run its `kedge match` command again, or remove the directory"
            raise KedgeError("the run is not finished", file=directory, remedy=remedy)
        problem = store.load_problem(run)
        log = DecisionLog(directory / store.DECISIONS_FILE) if (directory / store.DECISIONS_FILE).exists() else None
        try:
            target = _find(name, side, problem, log, directory)
            rows = [] if log is None else log.about(target.side, name)
            others = () if log is None else (e for e in log.state.entries if e.seq not in set(rows))
            noted = tuple(e.seq for e in others if name and name in e.note)
            if rows and log is not None:
                log.refuse_readers()
        finally:
            if log is not None:
                log.close()
        draft = store.Draft(directory)
        candidates = _clean(run, draft, problem, target)
        store.record_purged(directory, draft, target.side, name)
        draft.erase(rows, by=_user())
        draft.commit()
        if run.has(store.DECIDED) and run.has(store.MATCHES.file):
            write_report(store.load_contents(directory), directory / store.REPORT)
    pairs = problem.anchors[:, target.side]
    degree = 0 if target.account < 0 else int((problem.left, problem.right)[target.side].degrees[target.account])
    return Purged(
        side=_SIDES[target.side],
        edges=degree,
        anchors=int((pairs == target.account).sum()),
        candidates=candidates,
        decisions=len(rows),
        noted=noted,
        named=_still_named(directory, name),
    )


def _user() -> str:
    """Who purges, for the log; a user without an entry in the password database (in a container) has a number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"


def _find(name: str, side: str | None, problem: Problem, log: DecisionLog | None, directory: Path) -> _Target:
    accounts = [int(network.find([name])[0]) for network in (problem.left, problem.right)]
    rows = [] if log is None else [entry for entry in log.state.entries if not entry.forgotten]
    known = [accounts[i] >= 0 or any(entry.pair[i] == name for entry in rows) for i in (0, 1)]
    wanted = [i for i in (0, 1) if known[i] and side in (None, _SIDES[i])]
    if not wanted:
        where = "in this run" if side is None else f"on the {side} of this run"
        raise KedgeError(f"no account {name!r} {where}", file=directory, remedy="give the id exactly as in the file")
    if len(wanted) > 1:
        raise KedgeError(
            f"both networks have an account {name!r}", file=directory, remedy="add --side left or --side right"
        )
    return _Target(name, wanted[0], accounts[wanted[0]])


def _clean(run: store.Artefacts, draft: store.Draft, problem: Problem, target: _Target) -> int:
    """Draft every file that names accounts without this one, and the manifest; how many candidate rows are gone."""
    gone = 0

    def without(table: pa.Table) -> pa.Table:
        return table.filter(pc.invert(pc.fill_null(pc.equal(table[_SIDES[target.side]], target.name), False)))

    def rows(table: pa.Table) -> pa.Table:
        nonlocal gone
        kept = without(table)
        gone = table.num_rows - kept.num_rows
        return kept

    def known(arrays: dict[str, Any]) -> dict[str, Any]:
        return {key: without_pairs(pairs, target.forgotten) for key, pairs in arrays.items()}

    left, right = target.forgotten
    no_hyperedge = np.empty(0, np.int64)
    blanked = forget_accounts(problem, target.forgotten)
    cleaners: list[tuple[store.Stage, Callable[[Any], Any]]] = [
        (store.MATCHES, rows),
        (store.SCORES, lambda scores: scores.without(left, right)),
        (store.SUPPORT, lambda support: without_entries(support, left, right)),
        (store.PRIOR, lambda prior: without_entries(prior, left, right)),
        (store.ANCHORS, known),
        (store.SUSPECTS, lambda suspects: suspects.without(left, right)),
        (store.HYPERGRAPHS[0], lambda H: without_entries(H, left, no_hyperedge)),
        (store.HYPERGRAPHS[1], lambda H: without_entries(H, right, no_hyperedge)),
        (store.SHARED_VALUES[0], lambda H: without_entries(H, left, no_hyperedge)),
        (store.SHARED_VALUES[1], lambda H: without_entries(H, right, no_hyperedge)),
        (store.PROFILES[0], lambda table: Profiles(table).without(left).table),
        (store.PROFILES[1], lambda table: Profiles(table).without(right).table),
        (store.NETWORKS[0], lambda _: blanked.left),
        (store.NETWORKS[1], lambda _: blanked.right),
    ]
    done = dict(run.manifest["stages"])
    safe = {stage.id for stage, _ in cleaners} | {
        stage.id for stage in store.STAGES.values() if not stage.names_accounts
    }
    for name in done.keys() - safe:
        # There is no rule for taking an account out of it. The same match makes it again, without the account.
        draft.remove(done.pop(name)["artefact"])
    for stage, change in cleaners:
        if stage.id in done:
            with draft.write(stage.file, stage.format, change(run.load(stage))).open("rb") as file:
                done[stage.id] = done[stage.id] | store.fingerprint(file)
    # Vectors were learnt from the account's edges; without these the networks have other keys in the cache.
    for path in sorted((run.directory / store.EMBEDDINGS).glob("*")):
        draft.remove(f"{store.EMBEDDINGS}/{path.name}")
    draft.remove(store.REPORT)
    files = {
        name: record for name, record in run.manifest["files"].items() if not name.startswith(f"{store.EMBEDDINGS}/")
    }
    if run.has(store.HELD_OUT):
        kept = without(run.read(store.HELD_OUT, store.TABLE))
        with draft.write(store.HELD_OUT, store.TABLE, kept).open("rb") as file:
            files[store.HELD_OUT] = store.fingerprint(file)
    sample = store.load_sample(run)
    if sample is not None:
        kept_sample = sample.without(target.side, target.name)
        with draft.write(store.AUDIT, store.SAMPLE, kept_sample).open("rb") as file:
            files[store.AUDIT] = store.fingerprint(file)
    if (run.directory / store.AUDIT_CSV).is_file():
        draft.write(store.AUDIT_CSV, store.TEXT, _without_rows(run.directory / store.AUDIT_CSV, target))
    draft.write(store.MANIFEST, store.JSON, store.seal({**run.manifest, "stages": done, "files": files}))
    return gone


def _without_rows(path: Path, target: _Target) -> str:
    """A table without the lines of which a cell is the account's id; an id has no line breaks."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        lines = file.readlines()
    ids = {target.name, guard_text(target.name)}
    return "".join(line for line in lines if ids.isdisjoint(next(csv.reader([line], delimiter=_delimiter(lines)), ())))


def _delimiter(lines: list[str]) -> str:
    return max(",;\t", key=lines[0].count) if lines else ","


def _still_named(directory: Path, name: str) -> tuple[str, ...]:
    """Files that hold the id as text: those that kedge did not write, and the log where notes of others name it."""
    wanted = name.encode("utf-8", "surrogateescape")
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return tuple(str(path.relative_to(directory)) for path in files if wanted and wanted in path.read_bytes())
