"""Single bits flipped in the files of a finished run, and what each reader of the run makes of it."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kedge.decide.steps import as_text
from kedge.errors import KedgeError
from kedge.ingest import read_pairs, resolve_test
from kedge.pipeline import load_outcome, load_table, measure
from kedge.pipeline.explain import explain_pair
from kedge.report import build_report
from kedge.review.data import load_review
from kedge.store import load_contents, open_artefacts, purged_accounts, read_decisions, read_manifest
from kedge.store.contents import load_problem

Reader = Callable[[Path], Any]
PAIR = ("a000020", "b000007")


def _review(run: Path) -> Any:
    data = load_review(run)
    table = data.matches.table()
    return table, data.queue.tolist(), data.matched.tolist(), data.run_id, data.reordered, data.config


def _decisions(run: Path) -> Any:
    read_manifest(run)
    state = read_decisions(run)
    return None if state is None else state.entries


def _purged(run: Path) -> Any:
    """As the next match reads it."""
    return [accounts.tolist() for accounts in purged_accounts(run, load_problem(open_artefacts(run)))]


def readers(test: Path) -> dict[str, Reader]:
    """What each command reads of a run, in this process; `test` are held-out pairs."""

    def evaluate(run: Path) -> Any:
        outcome = load_outcome(run)
        pairs, _ = resolve_test(read_pairs(test, outcome.config.read), outcome.problem)
        return measure(outcome, pairs, outcome.config.seed)

    return {
        "report": lambda run: build_report(load_contents(run)),
        "explain": lambda run: as_text(explain_pair(run, *PAIR)),
        "export": lambda run: load_table(run, 5),
        "export, more candidates": lambda run: load_table(run, 7),
        "evaluate": evaluate,
        "review": _review,
        "decisions": _decisions,
        "purged": _purged,
    }


_opened: list[set[str]] = []


def _note_open(event: str, words: tuple[Any, ...]) -> None:
    if _opened and event in ("open", "sqlite3.connect") and isinstance(words[0], str | bytes | Path):
        path = words[0].decode() if isinstance(words[0], bytes) else str(words[0])
        _opened[-1].add(path)


@contextlib.contextmanager
def opened() -> Iterator[set[str]]:
    """The paths that are opened within."""
    if _note_open not in _hooks:
        _hooks.append(_note_open)
        sys.addaudithook(_note_open)  # it cannot be removed again
    _opened.append(set())
    try:
        yield _opened[-1]
    finally:
        _opened.pop()


_hooks: list[Any] = []


@dataclass
class Flips:
    """What became of the flips: noticed, without effect, or wrong (with a line on each)."""

    run: Path
    readers: dict[str, Reader]
    fates: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files = [path for path in sorted(self.run.rglob("*")) if path.is_file() and path.stat().st_size]
        self.whole = {path: path.read_bytes() for path in self.files}
        self.expected: dict[str, Any] = {}
        self.opened: dict[str, set[str]] = {}
        for name, read in self.readers.items():
            with opened() as paths:
                self.expected[name] = read(self.run)
            self.opened[name] = paths
        self.restore()

    def restore(self) -> None:
        """The directory as it was; SQLite leaves files of its own."""
        for path in self.run.rglob("*"):
            if path.is_file() and path not in self.whole and path.name.endswith(("-wal", "-shm", "-journal")):
                path.unlink()

    def flip(self, path: Path, bit: int) -> None:
        """Flip one bit and read the run by every reader that opens this file; the others cannot be affected."""
        content = bytearray(self.whole[path])
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(content))
        users = [name for name in self.readers if str(path) in self.opened[name]]
        fates = [self._read(name, path, bit) for name in users] or ["read by no command"]
        path.write_bytes(self.whole[path])
        self.restore()
        order = ("wrong", "noticed", "without effect", "read by no command")
        self.fates[next(fate for fate in order if fate in fates)] += 1

    def _read(self, name: str, path: Path, bit: int) -> str:
        place = f"{path.relative_to(self.run)}, bit {bit}, {name}"
        try:
            found = self.readers[name](self.run)
        except KedgeError as error:
            if path.name in str(error):
                return "noticed"
            self.wrong.append(f"{place}: another file is named: {error}")
        except Exception as error:
            self.wrong.append(f"{place}: {type(error).__name__}: {error}")
        else:
            if found == self.expected[name]:
                return "without effect"
            self.wrong.append(f"{place}: another result")
        return "wrong"

    def flip_some(self, count: int, rng: np.random.Generator) -> None:
        """Flip that many bits: every file gets its share, the larger ones more."""
        weights = np.sqrt([len(self.whole[path]) for path in self.files])
        for place in rng.choice(len(self.files), size=count, p=weights / weights.sum()):
            path = self.files[place]
            self.flip(path, int(rng.integers(8 * len(self.whole[path]))))
