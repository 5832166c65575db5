"""`kedge.compare`: which method is best on my data? And the paper's experiments."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import triu

from kedge import experiments
from kedge.api.objects import as_path, as_settings, as_source, two_sides
from kedge.api.progress import progress_of
from kedge.api.wording import in_python, worded
from kedge.config import ReadConfig, resolve
from kedge.context import Noting, Progress, Shown, table_text
from kedge.ingest import read_network, read_pairs
from kedge.methods import METHODS
from kedge.report import paragraph_html, table_html
from kedge.types import KedgeError


class Compared:
    """Methods compared on the same splits: mean and spread of ranking and decisions, CPU seconds, memory.

    `to_pandas()` has one row per method, `to_dict()` every single measurement; `plot(path)` draws them.
    """

    def __init__(self, found: experiments.Comparison, notes: Sequence[str]) -> None:
        self._found, self.notes = found, tuple(notes)

    @property
    def best(self) -> str | None:
        """The method with the highest mean reciprocal rank; None where none gave figures."""
        ranked = [
            (e.summary.mean["mrr"], e.method) for e in self._found.entries if e.summary.mean.get("mrr") is not None
        ]
        return max(ranked, key=lambda one: one[0] or 0.0)[1] if ranked else None

    @property
    def failed(self) -> dict[str, str]:
        """Why a method has no figures, or not of every seed."""
        return {e.method: in_python(e.summary.reason) for e in self._found.entries if e.summary.reason}

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return self._found.plain()

    def to_arrow(self) -> pa.Table:
        """One row per method: its mean figures, CPU seconds and memory."""
        rows = [
            {"method": e.method, **e.summary.mean, "cpu_seconds": e.summary.cpu_seconds, "peak_mb": e.summary.peak_mb}
            for e in self._found.entries
        ]
        return pa.Table.from_pylist(rows)

    def to_pandas(self) -> Any:
        """One row per method as a pandas data frame."""
        return self.to_arrow().to_pandas()

    @worded
    def plot(self, path: str | Path, *, force: bool = False) -> Path:
        """Draw the comparison as .png, .svg or .pdf; the path."""
        place = as_path(path, "path")
        experiments.check_picture(place, force)
        picture = experiments.draw_comparison(self._found, place.suffix.removeprefix(".").lower())
        experiments.write_files({place: picture})
        return place

    def __len__(self) -> int:
        return len(self._found.entries)

    def _shown(self) -> Shown:
        heads, rows = experiments.compared_rows(self._found, brief=True)
        many = len(self._found.seeds)
        facts = next((cell.facts for cells in self._found.cells for cell in cells if cell.facts), None)
        split = f"{facts['observed']:,} anchors observed, {facts['held_out']:,} held out; " if facts else ""
        return Shown(f"{split}{many} seed{'s' if many > 1 else ''}", heads, rows)

    def __repr__(self) -> str:
        reasons = [f"{method}: {reason}." for method, reason in self.failed.items()]
        return "\n".join([table_text(self._shown()).rstrip(), *reasons])

    def _repr_html_(self) -> str:
        reasons = [paragraph_html(f"{method}: {reason}.").html for method, reason in self.failed.items()]
        return "".join([table_html(self._shown()).html, *reasons])


@worded
def compare(
    left: Any = None,
    right: Any = None,
    anchors: Any = None,
    *,
    methods: str | Sequence[str] | None = None,
    test: Any = None,
    seeds: int = 5,
    train: float | None = None,
    profiles: tuple[Any, Any] | None = None,
    left_profiles: Any = None,
    right_profiles: Any = None,
    data: str | Path | None = None,
    split: str | None = None,
    out: str | Path | None = None,
    plot: str | Path | None = None,
    workers: int = 1,
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> Compared:
    """Compare methods on your own data: the same splits, the same evaluation, each method in a process of its own.

    left, right, anchors, profiles: as for `match`, or `data`, a folder of research data. methods: names, by default
    all; "mgcn:paper" is MGCN with the paper's preset. The anchors are split into observed ones (a share `train`, 0.2 by
    default) and held-out ones, once per seed; where `test` pairs are given, all anchors are observed.
    out: a directory that saves every measurement; the same call again resumes. workers: 0 is one per core.
    """
    experiments.check_seeds(seeds)
    picture = None if plot is None else as_path(plot, "plot")
    if picture is not None:
        experiments.check_picture(picture, force)
    many = experiments.check_workers(workers)
    wanted = ",".join(METHODS) if methods is None else methods if isinstance(methods, str) else ",".join(methods)
    variants = experiments.parse_methods(wanted)
    noting = Noting(progress_of(progress))
    folder = None if out is None else as_path(out, "out")
    overrides = experiments.Overrides(_assignments(settings), None if config is None else as_path(config, "config"))
    reading = resolve("default", overrides.file, overrides.assignments).read
    sides = two_sides(profiles, left_profiles, right_profiles, "profiles", "profiles")
    with tempfile.TemporaryDirectory(prefix="kedge-compare-") as place:
        given = (("left", left), ("right", right), ("anchors", anchors), ("test", test))
        files = tuple(_file(as_source(source), name, Path(place), reading, noting) for name, source in given)
        pair = experiments.find_pair(files, None if data is None else as_path(data, "data"), split)
        known = [
            _file(source, f"{side}-profiles", Path(place), reading, noting)
            for side, source in zip(_SIDES, sides, strict=True)
        ]
        pair = experiments.add_profiles(pair, known[0], known[1])
        plan = experiments.Plan(pair, experiments.find_shares(pair, train), variants, tuple(range(seeds)), overrides)
        noting.stage("reading")
        for note in experiments.check_plan(plan):
            noting.note(note)
        noting.stage(f"measuring {len(variants)} methods under {seeds} seeds")
        execution = experiments.Execution(folder, many, experiments.count_cells(noting))
        found = experiments.compare_methods(plan, execution)
    if folder is not None:
        experiments.write_comparison(folder, found)
    result = Compared(found, [in_python(note) for note in noting.notes])
    if picture is not None:
        result.plot(picture, force=force)
    return result


_SIDES = ("left", "right")


def _assignments(settings: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Settings as the processes of the cells read them."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in as_settings(settings).items()}
    return tuple(f"{name}={dumps(value)}" for name, value in plain.items())


def _file(source: Any, name: str, place: Path, reading: ReadConfig, progress: Progress) -> Path | None:
    """A file as it is; an object as Parquet, since each method runs in a process of its own."""
    if source is None or isinstance(source, str | Path):
        return None if source is None else Path(source)
    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
    elif name in ("anchors", "test"):
        columns = read_pairs(source, reading)
        table = pa.table({"left": columns.first, "right": columns.second})
    elif name in _SIDES:
        network, report = read_network(source, reading, "left" if name == "left" else "right")
        half = triu(network.adjacency, format="coo")
        ends = {"source": network.ids.take(pa.array(half.row)), "target": network.ids.take(pa.array(half.col))}
        table = pa.table({**ends, **({"weight": half.data} if report.weighted else {})})
        if (network.degrees == 0).any():
            progress.note(f"{name}: accounts without edges are not compared")
    else:
        raise KedgeError(f"profiles cannot be read from {type(source).__name__}", remedy="give a path or a frame")
    path = place / f"{name}.parquet"
    pq.write_table(table, path)
    return path


def list_methods() -> dict[str, str]:
    """The methods by name, each with what it is and its paper."""
    return {m.name: f"{m.about} ({m.paper})" if m.paper else m.about for m in METHODS.values()}


class Reproduced:
    """An experiment of the paper, run: `to_dict()` has its figures next to those that the paper prints, `files` what
    was written."""

    def __init__(self, found: experiments.Reproduced, files: Sequence[Path]) -> None:
        self._found, self.files = found, tuple(files)
        self.notes = tuple(map(in_python, found.notes))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON types."""
        return self._found.plain()

    def _shown(self) -> list[Shown]:
        tables = []
        for metric in self._found.metrics:
            heads, rows = experiments.metric_rows(self._found, metric)
            tables.append(Shown(f"{experiments.label_of(metric)}, on {self._found.source}", tuple(heads), rows))
        return tables

    def __repr__(self) -> str:
        return "\n".join(table_text(table).rstrip() for table in self._shown())

    def _repr_html_(self) -> str:
        return "".join(table_html(table).html for table in self._shown())


@worded
def reproduce(
    name: str,
    *,
    out: str | Path | None = None,
    quick: bool = False,
    seeds: int | None = None,
    methods: str | Sequence[str] | None = None,
    points: str | None = None,
    train: float | None = None,
    source: str | None = None,
    data: str | Path | None = None,
    workers: int = 1,
    settings: Mapping[str, Any] | None = None,
    progress: bool | Progress | None = None,
) -> Reproduced:
    """Run an experiment of the MGCN paper, "main", "anchors", "sparsity", "overlap", "hypergraphs" or "efficiency", as
    `kedge reproduce` does; `quick` takes minutes, without it hours. Files are in `out`, by default reproduced/NAME."""
    from kedge.store import refuse_directory

    experiment, asked = experiments.ask_experiment(
        name,
        quick=quick,
        seeds=seeds,
        methods=",".join(methods) if methods is not None and not isinstance(methods, str) else methods,
        points=points,
        train=train,
        source=source,
        data=None if data is None else as_path(data, "data"),
        settings=_assignments(settings),
    )
    many = experiments.check_workers(workers)
    folder = Path("reproduced") / experiment.name if out is None else as_path(out, "out")
    refuse_directory(folder)
    shown = progress_of(progress)
    shown.stage(f"{experiment.title.lower()}: {len(asked.variants)} methods")
    execution = experiments.Execution(folder, many, experiments.count_cells(shown))
    found = experiments.run_experiment(experiment, asked, execution)
    return Reproduced(found, experiments.write_experiment(folder, found))
