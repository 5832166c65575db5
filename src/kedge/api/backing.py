"""Where the results of a run are: in memory, or in a run directory that is verified whenever it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from kedge import store
from kedge.config import Config
from kedge.decide.explanation import Explanation
from kedge.pipeline import (
    OBJECT,
    Outcome,
    Selection,
    candidate_rows,
    check_candidates,
    crosswalk_of,
    decide_again,
    decided,
    decided_only,
    evaluate_outcome,
    evaluate_run,
    load_export,
    load_table,
    suspect_table,
    table_of,
)
from kedge.pipeline.explain import explain_outcome, explain_pair
from kedge.types import KedgeError

Note = Callable[[str], None]
_SIDES = ("left", "right")


class Backing(Protocol):
    """What a run needs to answer questions."""

    @property
    def directory(self) -> Path | None:
        """The run directory; None in memory."""
        ...

    @property
    def names(self) -> tuple[str, str]:
        """What the two sides are called: their files, where they are files."""
        ...

    @property
    def config(self) -> Config:
        """The settings, with what was chosen for those left open."""
        ...

    def stamp(self) -> object:
        """Something else as soon as the results may be others."""
        ...

    def table(self, chosen: Selection, note: Note) -> pa.Table:
        """The crosswalk, or the candidates."""
        ...

    def rows(self) -> pa.Table:
        """Every candidate with all columns."""
        ...

    def suspects(self) -> pa.Table:
        """The anchors that the evidence contradicts."""
        ...

    def explain(self, left: str, right: str) -> Explanation:
        """The evidence for and against a pair."""
        ...

    def decided(self) -> dict[str, Any]:
        """The threshold, and how many accounts were decided how."""
        ...

    def metrics(self) -> dict[str, Any] | None:
        """The figures on held-out pairs; None without any."""
        ...

    def decide(self, change: Mapping[str, Any], note: Note) -> dict[str, Any]:
        """Decide again; the summary."""
        ...

    def evaluate(self, test: Any, columns: tuple[str, ...], note: Note) -> dict[str, Any]:
        """Every metric on these pairs."""
        ...


class Held:
    """A run in memory."""

    directory = None

    def __init__(self, outcome: Outcome, names: tuple[str, str], test: Any = None, note: Note = lambda _: None) -> None:
        self.outcome, self.names = outcome, names
        self._test = test
        self._metrics = None if test is None else evaluate_outcome(outcome, test, note)

    @property
    def config(self) -> Config:
        """The resolved settings."""
        return self.outcome.config

    def stamp(self) -> object:
        """The outcome itself: another one takes its place when it is decided again."""
        return self.outcome

    def table(self, chosen: Selection, note: Note) -> pa.Table:  # noqa: ARG002 (that of a directory has notes)
        """From the outcome."""
        if chosen.fields:
            raise KedgeError("fields are read from a run directory", remedy="match with out= a directory")
        if chosen.candidates is None:
            table = crosswalk_of(self.outcome, chosen.everything)
        else:
            check_candidates(chosen.candidates)
            table = candidate_rows(table_of(self.outcome, chosen.candidates), chosen.candidates)
        return decided_only(table) if chosen.matches_only else table

    def rows(self) -> pa.Table:
        """From the outcome."""
        return self.outcome.matches.table()

    def suspects(self) -> pa.Table:
        """From the outcome."""
        return suspect_table(self.outcome.problem, self.outcome.suspects)

    def explain(self, left: str, right: str) -> Explanation:
        """From the outcome."""
        return explain_outcome(self.outcome, left, right)

    def decided(self) -> dict[str, Any]:
        """From the outcome."""
        return decided(self.outcome)

    def metrics(self) -> dict[str, Any] | None:
        """Those of the last evaluation."""
        return self._metrics

    def decide(self, change: Mapping[str, Any], note: Note) -> dict[str, Any]:
        """The outcome decided again takes the place of the one before."""
        self.outcome = self.outcome.decided(change)
        if self._test is not None:
            self._metrics = evaluate_outcome(self.outcome, self._test, note)
        return {**decided(self.outcome), "metrics": self._metrics}

    def evaluate(self, test: Any, columns: tuple[str, ...], note: Note) -> dict[str, Any]:
        """These pairs take the place of earlier ones."""
        self._metrics = evaluate_outcome(self.outcome, test, note, columns)
        self._test = test
        return self._metrics


class Saved:
    """A run directory: each question reads the files and verifies them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._open()

    def _open(self) -> store.Artefacts:
        return store.open_finished(self.directory, store.DECIDED)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two files, as the manifest has them."""
        inputs = store.read_manifest(self.directory)["inputs"]
        left, right = (side if inputs[side]["name"].startswith(OBJECT) else inputs[side]["name"] for side in _SIDES)
        return left, right

    @property
    def config(self) -> Config:
        """What was chosen by `kedge match`, decided as the run is decided now."""
        opened = self._open()
        decide = store.run_config(opened.manifest).decide
        return store.load_settings(opened).model_copy(update={"decide": decide})

    def stamp(self) -> object:
        """Size and time of the manifest, which has the checksum of every file, and of the log of decisions."""
        names = (store.MANIFEST, store.DECISIONS_FILE, f"{store.DECISIONS_FILE}-wal")
        places = [self.directory / name for name in names]
        return tuple((s.st_size, s.st_mtime_ns) if p.exists() and (s := p.stat()) else None for p in places)

    def table(self, chosen: Selection, note: Note) -> pa.Table:
        """As `kedge export` has it."""
        if chosen.candidates is not None:
            check_candidates(chosen.candidates)
        return load_export(self.directory, chosen, note)

    def rows(self) -> pa.Table:
        """As the run has saved them."""
        return load_table(self.directory, 1)

    def suspects(self) -> pa.Table:
        """As the run has saved them."""
        opened = self._open()
        return suspect_table(store.load_problem(opened), store.load_suspects(opened))

    def explain(self, left: str, right: str) -> Explanation:
        """As `kedge explain` has it."""
        return explain_pair(self.directory, left, right)

    def decided(self) -> dict[str, Any]:
        """As the run has saved it."""
        found: dict[str, Any] = self._open().read(store.DECIDED, store.JSON)
        return found

    def metrics(self) -> dict[str, Any] | None:
        """Those of `--test` or of the last evaluation."""
        opened = self._open()
        found: dict[str, Any] | None = opened.read(store.METRICS, store.JSON) if opened.has(store.METRICS) else None
        return found if found and found.get("test_pairs") else None

    def decide(self, change: Mapping[str, Any], note: Note) -> dict[str, Any]:
        """As `kedge decide` does it."""
        return decide_again(self.directory, change, note)

    def evaluate(self, test: Any, columns: tuple[str, ...], note: Note) -> dict[str, Any]:
        """As `kedge evaluate` does it."""
        return evaluate_run(self.directory, test, note, columns)
