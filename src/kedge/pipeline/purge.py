"""Forget an account: take it out of a run's files and of its decisions, and never let a match bring it back."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge import store
from kedge.linalg import without_entries
from kedge.pipeline.forget import Forgotten, forget_accounts, without_pairs
from kedge.types import KedgeError, Problem

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

    Networks come last: after a kill the same call finds the account again and goes on. The report is removed; the
    caller writes it anew.
    """
    manifest = store.read_manifest(directory)
    with store.lock_run(directory), store.reviewing(directory, shared=False):
        run = store.Run(directory, manifest)
        problem = store.load_problem(directory)
        path = directory / store.DECISIONS_FILE
        log = store.DecisionLog(path) if path.exists() else None
        try:
            target = _find(name, side, problem, log, directory)
            store.record_purged(directory, target.side, name)
            decisions = [] if log is None else log.forget(target.side, name, by=getpass.getuser())
            noted = () if log is None else tuple(e.seq for e in log.state.entries if name and name in e.note)
        finally:
            if log is not None:
                log.close()
        (directory / store.REPORT).unlink(missing_ok=True)
        candidates = _clean(run, problem, target)
    pairs = problem.anchors[:, target.side]
    degree = 0 if target.account < 0 else int((problem.left, problem.right)[target.side].degrees[target.account])
    return Purged(
        side=_SIDES[target.side],
        edges=degree,
        anchors=int((pairs == target.account).sum()),
        candidates=candidates,
        decisions=len(decisions),
        noted=noted,
        named=_still_named(directory, name),
    )


def _find(name: str, side: str | None, problem: Problem, log: store.DecisionLog | None, directory: Path) -> _Target:
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


def _clean(run: store.Run, problem: Problem, target: _Target) -> int:
    """Rewrite every artefact that names accounts, the networks last; how many candidate rows were removed."""
    gone = 0

    def rows(table: pa.Table) -> pa.Table:
        nonlocal gone
        kept = table.filter(pc.not_equal(table[_SIDES[target.side]], target.name))
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
        (store.HYPERGRAPHS[0], lambda H: without_entries(H, left, no_hyperedge)),
        (store.HYPERGRAPHS[1], lambda H: without_entries(H, right, no_hyperedge)),
        (store.NETWORKS[0], lambda _: blanked.left),
        (store.NETWORKS[1], lambda _: blanked.right),
    ]
    done = run.manifest["stages"]
    safe = {stage.id for stage, _ in cleaners} | {
        stage.id for stage in store.STAGES.values() if not stage.names_accounts
    }
    for name in done.keys() - safe:
        # There is no rule for taking an account out of it. The same match makes it again, without the account.
        store.remove_artefact(run.directory, done[name]["artefact"])
    # Vectors were learnt from the account's edges; without these the networks have other keys in the cache.
    run.cache.clear()
    for stage, change in cleaners:
        if stage.id in done and (run.directory / stage.file).exists():
            run.rewrite(stage, change)
    return gone


def _still_named(directory: Path, name: str) -> tuple[str, ...]:
    """Files that kedge did not write and that hold the id as text."""
    wanted = name.encode()
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return tuple(str(path.relative_to(directory)) for path in files if wanted and wanted in path.read_bytes())
