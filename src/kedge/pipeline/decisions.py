"""What reviewers decided in a run: read, verified, and exported as anchors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from kedge import store
from kedge.answers import Pair
from kedge.ingest import guard_table, write_delimited
from kedge.types import KedgeError

_SIDES: Final = ("left", "right")


@dataclass(frozen=True)
class Decided:
    """The decisions of a run's reviewers: pairs of ids, the accounts with several confirmed partners, the number of
    `entries` in the log, its newest `head`, and how many entries came `after` a head that was asked for."""

    confirmed: tuple[Pair, ...] = ()
    rejected: tuple[Pair, ...] = ()
    disputed: tuple[Pair, ...] = ()
    contradictions: int = 0
    entries: int = 0
    head: str = ""
    after: int = 0

    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        return {
            "confirmed": len(self.confirmed),
            "rejected": len(self.rejected),
            "disputed": len(self.disputed),
            "contradictions": self.contradictions,
        }

    def notes(self) -> tuple[str, ...]:
        """What is not exported, and why."""
        lines = []
        if self.contradictions:
            lines.append(
                f"{self.contradictions} accounts have several confirmed partners; their pairs are not exported"
            )
        if self.disputed:
            lines.append(f"{len(self.disputed)} pairs on which reviewers disagree are not exported")
        return tuple(lines)


def check_head(head: str) -> None:
    """Refuse what cannot be the head of a log."""
    if not re.fullmatch("[0-9a-f]{64}", head):
        raise KedgeError(f"--head {head} is no head", remedy="give the 64 digits that `verify` or `review` printed")


def load_decisions(directory: Path, head: str | None = None) -> Decided | None:
    """The decisions, the whole log verified, a `head` that was printed before among its entries; None without any."""
    store.read_manifest(directory)
    if not (directory / store.DECISIONS_FILE).exists():
        store.read_decisions(directory)  # refuses if there were some
        return None
    log = store.open_decisions(directory, head)
    try:
        resolved, newest = log.state.resolved(), log.newest
        hashes = [entry.hash for entry in reversed(log.state.entries)]
    finally:
        log.close()
    return Decided(
        tuple(resolved.confirmed),
        tuple(resolved.rejected),
        tuple(resolved.disputed),
        len(resolved.contradictions),
        newest.count,
        newest.hash,
        hashes.index(head) if head in hashes else newest.count,
    )


def write_pairs(wanted: Mapping[Path, Sequence[Pair]], *, raw: bool, force: bool) -> int:
    """Write each list of pairs into its file, as `kedge match` reads them; how many cells got an apostrophe."""
    for file in wanted:
        _delimiter(file)
        store.refuse_overwrite(file, force)
    changed = 0
    for file, pairs in wanted.items():
        sides = {name: pa.array([pair[side] for pair in pairs], pa.string()) for side, name in enumerate(_SIDES)}
        table, more = (pa.table(sides), 0) if raw else guard_table(pa.table(sides))
        store.write_atomically(file, partial(write_delimited, table, delimiter=_delimiter(file)))
        changed += more
    return changed


def _delimiter(file: Path) -> str:
    kind = file.suffix.lower()
    if kind not in (".tsv", ".csv"):
        raise KedgeError("no such format", file=file, remedy="end the name in .tsv or .csv")
    return "\t" if kind == ".tsv" else ","
