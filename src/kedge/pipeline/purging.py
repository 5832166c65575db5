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

from kedge.errors import KedgeError
from kedge.forgetting import Forgotten, forget_accounts, forget_scores, without_entries, without_pairs
from kedge.pipeline.layout import ACCOUNT_FREE, EMBEDDINGS, HYPERGRAPH_FILES, PRIOR, REPORT, SUPPORT
from kedge.pipeline.reading import load_problem
from kedge.store import (
    ALIGNMENT,
    ARRAYS,
    DECISIONS_FILE,
    NETWORK,
    SPARSE,
    TABLE,
    DecisionLog,
    Format,
    Run,
    lock_run,
    read_manifest,
    remove_artefact,
    reviewing,
    suppress,
)
from kedge.types import Problem

__all__ = ["Purged", "purge"]

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
class _Person:
    """Whom to forget: the id, its side (0 is left) and its number there, -1 where only decisions name it."""

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
    caller makes it anew.
    """
    manifest = read_manifest(directory)
    with lock_run(directory), reviewing(directory, shared=False):
        run = Run(directory, manifest)
        problem = load_problem(directory)
        log = DecisionLog(directory / DECISIONS_FILE) if (directory / DECISIONS_FILE).exists() else None
        try:
            person = _find(name, side, problem, log, directory)
            suppress(directory, person.side, name)
            decisions = [] if log is None else log.forget(person.side, name, by=getpass.getuser())
            noted = () if log is None else tuple(e.seq for e in log.state.entries if name and name in e.note)
        finally:
            if log is not None:
                log.close()
        (directory / REPORT).unlink(missing_ok=True)
        candidates = _clean(run, problem, person)
    pairs = problem.anchors[:, person.side]
    degree = 0 if person.account < 0 else int((problem.left, problem.right)[person.side].degrees[person.account])
    return Purged(
        side=_SIDES[person.side],
        edges=degree,
        anchors=int((pairs == person.account).sum()),
        candidates=candidates,
        decisions=len(decisions),
        noted=noted,
        named=_still_named(directory, name),
    )


def _find(name: str, side: str | None, problem: Problem, log: DecisionLog | None, directory: Path) -> _Person:
    accounts = [int(network.find([name])[0]) for network in (problem.left, problem.right)]
    rows = [] if log is None else [entry for entry in log.state.entries if not entry.forgotten]
    known = [accounts[i] >= 0 or any(entry.pair[i] == name for entry in rows) for i in (0, 1)]
    wanted = [i for i in (0, 1) if known[i] and side in (None, _SIDES[i])]
    if not wanted:
        where = "in this run" if side is None else f"on the {side} of this run"
        raise KedgeError(f"no account {name!r} {where}", file=directory, remedy="give the id exactly as in the file")
    if len(wanted) > 1:
        raise KedgeError(
            f"both networks have an account {name!r}", file=directory, remedy="say --side left or --side right"
        )
    return _Person(name, wanted[0], accounts[wanted[0]])


def _clean(run: Run, problem: Problem, person: _Person) -> int:
    """Rewrite every artefact that knows accounts, the networks last; how many candidate rows went."""
    gone = 0

    def rows(table: pa.Table) -> pa.Table:
        nonlocal gone
        kept = table.filter(pc.not_equal(table[_SIDES[person.side]], person.name))
        gone = table.num_rows - kept.num_rows
        return kept

    def known(arrays: dict[str, Any]) -> dict[str, Any]:
        return {key: without_pairs(pairs, person.forgotten) for key, pairs in arrays.items()}

    no_hyperedge = np.empty(0, np.int64)
    blanked = forget_accounts(problem, person.forgotten)
    cleaners: dict[str, tuple[Format[Any], Callable[[Any], Any]]] = {
        "matches.parquet": (TABLE, rows),
        "model/scores.npz": (ALIGNMENT, lambda scores: forget_scores(scores, person.forgotten)),
        SUPPORT: (SPARSE, lambda support: without_entries(support, person.forgotten)),
        PRIOR: (SPARSE, lambda prior: without_entries(prior, person.forgotten)),
        "networks/anchors.npz": (ARRAYS, known),
        HYPERGRAPH_FILES[0]: (SPARSE, lambda H: without_entries(H, (person.forgotten[0], no_hyperedge))),
        HYPERGRAPH_FILES[1]: (SPARSE, lambda H: without_entries(H, (person.forgotten[1], no_hyperedge))),
        "networks/left.npz": (NETWORK, lambda _: blanked.left),
        "networks/right.npz": (NETWORK, lambda _: blanked.right),
    }
    stages = {record["artefact"]: stage for stage, record in run.manifest["stages"].items()}
    for artefact in stages.keys() - cleaners.keys() - ACCOUNT_FREE:
        # Nobody told us how to take an account out of it. The same match makes it again, without the account.
        remove_artefact(run.directory, artefact)
    # Vectors were learnt from the account's edges; without them the networks have other keys, so nobody would ask.
    run.shelf(EMBEDDINGS).clear()
    for artefact, (kind, change) in cleaners.items():
        if artefact in stages and (run.directory / artefact).exists():
            run.rewrite(stages[artefact], kind, change)
    return gone


def _still_named(directory: Path, name: str) -> tuple[str, ...]:
    """Files that somebody else put into the directory and that hold the id as text."""
    wanted = name.encode()
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return tuple(str(path.relative_to(directory)) for path in files if wanted and wanted in path.read_bytes())
