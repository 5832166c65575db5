"""A finished match as an object: its results, and everything that the command line does with a run directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kedge.api.audits import Audit, audit_directory
from kedge.api.backing import Backing
from kedge.api.decisions import Decisions, read_all
from kedge.api.explained import Explained
from kedge.api.facts import Facts
from kedge.api.objects import as_path, as_source, one_id
from kedge.api.page import Report, write_page
from kedge.api.review import Review, open_review
from kedge.api.tables import CandidateRow, MatchRow, SuspectRow, Table
from kedge.api.wording import in_python, worded
from kedge.config import Config, resolve
from kedge.context import Shown
from kedge.pipeline import Selection, check_export, decision_change, export_table, guard_export
from kedge.report import metric_tables
from kedge.review.session import Visit
from kedge.store import refuse_overwrite
from kedge.types import KedgeError

T = TypeVar("T")


class Run:
    """Two networks, matched.

    `matches` has the pairs, `candidates(k)` the best candidates of each account, `explain(left, right)` the evidence
    for a pair. A run in memory has no `directory`; one that was matched with `out=`, or opened with `kedge.open`, has
    one, and what is done to it (`decide`, `evaluate`, `review` and so on) is done to the directory.
    """

    def __init__(self, backing: Backing, notes: Sequence[str] = ()) -> None:
        self._backing = backing
        self._notes = [in_python(note) for note in notes]
        self._cache: dict[Any, Any] = {}
        self._stamp: object = None

    @property
    def directory(self) -> Path | None:
        """The run directory; None in memory."""
        return self._backing.directory

    @property
    def notes(self) -> tuple[str, ...]:
        """What `kedge match` prints to stderr, and what later calls noted. A run that was opened begins without."""
        return tuple(self._notes)

    @property
    @worded
    def settings(self) -> Config:
        """Every setting, with what was chosen for those left open; `kedge config` prints the help of each."""
        return self._backing.config

    def _note(self, text: str) -> None:
        line = in_python(text)
        if line not in self._notes:
            self._notes.append(line)

    def _cached(self, key: Any, make: Callable[[], T]) -> T:
        """What was made before, unless the run has changed since."""
        stamp = self._backing.stamp()
        if stamp != self._stamp:
            self._cache, self._stamp = {}, stamp
        if key not in self._cache:
            self._cache[key] = make()
        found: T = self._cache[key]
        return found

    # ------------------------------------------------------------------------------------------------ results

    @property
    @worded
    def matches(self) -> Table[MatchRow]:
        """The crosswalk: one row per left account with a partner, known pairs first, then confirmed ones, then matches
        by falling probability."""
        return self._cached("matches", lambda: self._crosswalk("Matches", Selection()))

    @worded
    def all(self) -> Table[MatchRow]:
        """One row for every left account: also those to review and those without a match."""
        return self._cached("all", lambda: self._crosswalk("Accounts", Selection(everything=True)))

    @worded
    def candidates(self, k: int = 5) -> Table[CandidateRow]:
        """The k most probable candidates of each left account."""
        table = self._cached(
            ("candidates", k), lambda: self._backing.table(Selection(candidates=_whole(k)), self._note)
        )
        return Table(table, CandidateRow, "Candidates", self._backing.names)

    @property
    @worded
    def suspects(self) -> Table[SuspectRow]:
        """The anchors that the rest of the evidence contradicts, which were not used; the surest first."""
        return Table(self._backing.suspects(), SuspectRow, "Anchors that seem wrong", self._backing.names)

    @property
    @worded
    def metrics(self) -> Facts | None:
        """The figures on held-out pairs; None where there were none."""
        found = self._backing.metrics()
        return None if found is None else Facts(found, metric_tables(found))

    @property
    @worded
    def threshold(self) -> float:
        """The probability from which an assigned pair is a match."""
        return float(self._backing.decided()["threshold"])

    @worded
    def to_frame(self) -> Any:
        """Every candidate with all columns as a pandas data frame, in the order of the left ids."""
        return Table(self._backing.rows(), CandidateRow, "Candidates").to_pandas()

    def _crosswalk(self, title: str, chosen: Selection) -> Table[MatchRow]:
        return Table(self._backing.table(chosen, self._note), MatchRow, title, self._backing.names)

    @worded
    def explain(self, left: object, right: object) -> Explained:
        """The evidence for and against any pair, rejected ones too."""
        return Explained(self._backing.explain(one_id(left), one_id(right)))

    # ------------------------------------------------------------------------------------------- other decisions

    @worded
    def decide(
        self,
        *,
        precision: float | None = None,
        threshold: float | None = None,
        one_to_one: str | None = None,
        counterparts: str | None = None,
    ) -> Facts:
        """Decide again, without matching: with another precision, or from another probability on, or with `one_to_one`
        "optimal", "greedy" or "off", or another share of accounts with a counterpart. What is not given stays."""
        change = decision_change(precision, threshold, one_to_one, counterparts)
        summary = self._backing.decide(change, self._note)
        expected = summary["expected_precision"]
        right = "" if expected is None else f", expected to be right {expected:.1%} of the time"
        line = (
            f"{summary['match']:,} matches from a probability of {summary['threshold']:g} on{right}; "
            f"{summary['review']:,} to review, {summary['no match']:,} no match"
        )
        metrics = summary["metrics"]
        return Facts(summary, metric_tables(metrics) if metrics else (), (), self.notes, line)

    @worded
    def evaluate(self, test: Any, *, columns: str | None = None) -> Facts:
        """Every metric on pairs that the run has not used: ranking, decisions, calibration. `columns` names the two of
        ids. In a directory the figures become part of the run and of its report."""
        named = resolve(overrides={} if columns is None else {"read.anchor_columns": columns}).read.anchor_columns
        found = self._backing.evaluate(as_source(test), named, self._note)
        return Facts(found, metric_tables(found), (), self.notes)

    # ------------------------------------------------------------------------------------------------ files

    @worded
    def export(
        self,
        path: str | Path,
        *,
        candidates: int | None = None,
        everything: bool = False,
        matches_only: bool = False,
        fields: str | Sequence[str] = (),
        format: str | None = None,
        raw: bool = False,
        force: bool = False,
    ) -> Path:
        """Write the crosswalk, or so many candidates of each account, as .csv, .parquet, .json or .xlsx; the path.

        `everything` has every left account, `matches_only` what kedge decided alone; `fields` adds compared fields of
        the profiles. In CSV, ids that a spreadsheet would run as formulas get an apostrophe; `raw` writes them exactly.
        """
        place = as_path(path, "path")
        kind = format or place.suffix.removeprefix(".").lower()
        named = tuple(fields.split(",") if isinstance(fields, str) and fields else fields)
        chosen = Selection(candidates, everything, matches_only, named)
        check_export(kind, chosen)
        refuse_overwrite(place, force)
        table, changed = guard_export(self._backing.table(chosen, self._note), kind, raw=raw)
        export_table(table, place, kind)
        if changed:
            self._note(
                f"{place.name}: {changed:,} cells that a spreadsheet would run as formulas begin with an apostrophe; "
                "--raw writes them exactly"
            )
        return place

    @worded
    def report(
        self, path: str | Path | None = None, *, figures: str | Path | None = None, format: str = "svg"
    ) -> Report:
        """Write the report, one HTML page that needs no network; by default report.html of the run directory.

        `figures`: a directory for each of its figures as a file, in `format` svg or png (needs Chromium).
        """
        folder = None if figures is None else as_path(figures, "figures")
        return write_page(self._place("report()"), None if path is None else as_path(path, "path"), folder, format)

    # ------------------------------------------------------------------------------------------------ people

    @worded
    def review(
        self,
        *,
        audit: bool = False,
        answers: int | None = None,
        reviewer: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        browser: bool = True,
        block: bool = True,
    ) -> Review:
        """Decide uncertain pairs in the browser; ^C ends it. With `block=False` it goes on in the background until
        `.stop()`, which a notebook needs. `audit`: a random sample instead, to measure the precision."""
        visit = Visit(host, port, reviewer, audit, answers).check()
        return open_review(self._place("review()"), visit, self._note, browser=browser, block=block)

    @worded
    def audit(
        self,
        *,
        answers: int | None = None,
        out: str | Path | None = None,
        read: str | Path | None = None,
        reviewer: str | None = None,
        redraw: bool = False,
        raw: bool = False,
        force: bool = False,
    ) -> Audit:
        """The precision of the matches, from a random sample that people answer.

        `.sample` has the pairs; `out` writes them as CSV with a column to fill in, `read` reads that file back.
        """
        target = None if out is None else as_path(out, "out")
        given = None if read is None else as_path(read, "read")
        place = self._place("audit()")
        return audit_directory(place, answers, target, given, reviewer, self._note, redraw=redraw, raw=raw, force=force)

    @property
    @worded
    def decisions(self) -> Decisions:
        """What reviewers decided, the log verified."""
        return read_all(self._place("decisions"))

    @worded
    def purge(self, account: object, side: str | None = None) -> Facts:
        """Remove an account from networks, scores, matches, report and decisions, for good. `side` is needed where both
        networks have the id. Input files and exported files are not changed."""
        from dataclasses import asdict

        from kedge.pipeline.purge import check_side
        from kedge.pipeline.purge import purge as forget

        check_side(side)
        place = self._place("purge()")
        purged = forget(place, one_id(account), side)
        for line in purged.notes(place):
            self._note(line)
        return Facts({"run": str(place), **asdict(purged)}, (), [purged.sentence], purged.notes(place))

    def _place(self, what: str) -> Path:
        if self._backing.directory is None:
            raise KedgeError(
                f"{what} needs a run directory, and this run is in memory", remedy='match with out="run" to have one'
            )
        return self._backing.directory

    # ------------------------------------------------------------------------------------------------ shown

    def _facts(self) -> Facts:
        left, right = self._backing.names
        decided = self._backing.decided()
        expected = decided["expected_precision"]
        rows = [
            ("left", left),
            ("right", right),
            ("method", self._backing.config.method),
            ("matches", f"{decided['match']:,}"),
            ("to review", f"{decided['review']:,}"),
            ("no match", f"{decided['no match']:,}"),
            ("threshold", f"{decided['threshold']:g}"),
            ("expected to be right", "-" if expected is None else f"{expected:.1%}"),
            ("directory", "in memory" if self.directory is None else str(self.directory)),
        ]
        return Facts(decided, [Shown("kedge run", ("", ""), rows, 2)])

    def __repr__(self) -> str:
        decided = self._backing.decided()
        place = "in memory" if self.directory is None else str(self.directory)
        return (
            f"<kedge.Run {place}: {decided['match']:,} matches, {decided['review']:,} to review, "
            f"{decided['no match']:,} no match>"
        )

    def _repr_html_(self) -> str:
        return self._facts()._repr_html_()


def _whole(k: Any) -> int:
    if isinstance(k, bool) or not isinstance(k, int):
        raise KedgeError(f"candidates({k!r}) is not a whole number", remedy="ask for e.g. candidates(5)")
    return k
