"""Jobs of other processes: they write until they are killed, or try to open a run that is open."""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path

from kedge.errors import KedgeError
from kedge.store import Identity, open_run, write_atomically
from kedge.store.decisions import DecisionLog


def write_files(path: Path) -> None:
    print("ready", flush=True)
    for i in count():
        content = (b"%09d" % i) * 50000
        write_atomically(path, lambda file, content=content: file.write(content))  # type: ignore[misc]


def write_decisions(path: Path, name: str, rounds: int | None = None) -> None:
    """One line for each entry that is in the log: its number and its hash."""
    log = DecisionLog(path)
    for i in islice(count(1), rounds):
        entry = log.append("ann", "yes", f"{name}-{i}", "x") if i % 5 else log.undo("ann")
        if entry is not None:
            print(entry.seq, entry.hash, flush=True)


def try_to_open(run: Path, asked: Identity) -> None:
    try:
        with open_run(run, asked):
            pass
    except KedgeError as error:
        print(error)
