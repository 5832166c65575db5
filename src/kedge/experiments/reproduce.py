"""An experiment of the paper run: cells planned from its declaration, figures next to those that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from kedge.experiments.cells import Cut, Data, File, PlantedPair, Planting, Shares, find_network, find_pair, name_of
from kedge.experiments.compare import Overrides, plan_cell
from kedge.experiments.forward import MODELS, Forward
from kedge.experiments.measure import Measured
from kedge.experiments.paper import MACRO, Experiment, Point, Variant, published
from kedge.experiments.run import Execution, Task, run_cells
from kedge.experiments.tables import Entry, summarise

_PLANTED_PAIR: Final = PlantedPair(4_000, 2_400, 40_000, 0.4)
_FORWARD_EDGES: Final = 13  # edges per account of the planted networks whose forward passes are timed
# The short form: fewer points and seeds, a smaller planted network, one calibration run, short training.
QUICK: Final = (
    "decide.folds=1",
    "mgcn.steps=60",
    "mgcn.dimensions=64",
    "baselines.steps=100",
    "baselines.dimensions=64",
    "baselines.walks=5",
)
_QUICK_PLANTED: Final = Planting(1_200, 16_000)
_QUICK_PAIR: Final = PlantedPair(1_200, 700, 12_000, 0.4)


@dataclass(frozen=True)
class Asked:
    """How to run an experiment: optionally with fewer methods and points, or another share of observed anchors."""

    seeds: int
    variants: tuple[Variant, ...]
    quick: bool = False
    train: float | None = None
    source: str | None = None
    root: Path | None = None
    settings: tuple[str, ...] = ()
    points: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Reproduced:
    """The result, one entry per point and method, and what it was measured on."""

    experiment: Experiment
    source: str
    seeds: int
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the experiment is about."""
        return ("forward_seconds",) if self.experiment.name == "efficiency" else MACRO

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        paper = published()[self.experiment.name]
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.source,
            "seeds": self.seeds,
            "notes": list(self.notes),
            "paper": {"place": paper["place"], "note": paper["note"]},
            "entries": [asdict(entry) for entry in self.entries],
        }


def run_experiment(experiment: Experiment, asked: Asked, execution: Execution) -> Reproduced:
    """Measure an experiment; finished cells are taken from the directory."""
    wanted = asked.points or (experiment.quick if asked.quick else None)
    points = [p for p in experiment.points if wanted is None or p.label in wanted]
    if experiment.name == "efficiency":
        return _reproduce_forward(experiment, asked, points, execution)
    if asked.train is not None:
        # The held-out share shrinks only if it must.
        rest = round(1 - asked.train, 9)
        points = [replace(point, shares=Shares(asked.train, min(point.shares.test, rest))) for point in points]
    settings = (*(QUICK if asked.quick else ()), *asked.settings)
    sources, notes = _sources(points, asked)
    seeds = range(asked.seeds)
    plan: list[Task] = [
        plan_cell(data, point.shares, variant, seed, Overrides((*point.settings, *settings)))
        for seed in seeds
        for point, (data, _) in zip(points, sources, strict=True)
        for variant in asked.variants
    ]
    found = run_cells(plan, execution)
    rows = [(point, variant) for point in points for variant in asked.variants]
    entries = tuple(
        Entry(point.label, variant.label, summarise(found[i :: len(rows)]), _printed(experiment, point, variant.label))
        for i, (point, variant) in enumerate(rows)
    )
    used = ", ".join(dict.fromkeys(name for _, name in sources))
    return Reproduced(experiment, used, asked.seeds, entries, tuple(notes))


def _sources(points: Sequence[Point], asked: Asked) -> tuple[list[tuple[Data, str]], list[str]]:
    """The data of each point with its name, and notes on planted data in place of real data."""
    notes: list[str] = []
    network: File | Planting | None = None
    made: list[tuple[Data, str]] = []
    for point in points:
        if point.pair is not None:
            pair = find_pair(point.pair, asked.root)
            instead = _QUICK_PAIR if asked.quick else _PLANTED_PAIR
            if pair is None:
                notes.append(f"{point.pair} is missing (set KEDGE_DATA): a planted pair is used instead")
            made.append((instead, "a planted pair") if pair is None else (pair, point.pair))
            continue
        if network is None:
            network = find_network(asked.source, asked.root)
            if isinstance(network, Planting) and asked.quick:
                network = _QUICK_PLANTED
            if isinstance(network, Planting) and asked.source is None:
                notes.append("ego-facebook is missing (set KEDGE_DATA): a planted network is used instead")
        made.append((Cut(network, *point.alphas), name_of(network)))
    return made, notes


def _printed(experiment: Experiment, point: Point, label: str) -> dict[str, float]:
    """The paper's own figures at a point, for a method that it has."""
    printed = published()[experiment.name]
    if point.x not in printed["points"]:
        return {}
    place = printed["points"].index(point.x)
    return {
        metric: values[label][place]
        for metric, values in printed.items()
        if isinstance(values, dict) and label in values
    }


def _reproduce_forward(
    experiment: Experiment, asked: Asked, points: Sequence[Point], execution: Execution
) -> Reproduced:
    """Forward times on planted networks of each size, or on parts of a given network."""
    given = None if asked.source in (None, "planted") else find_network(asked.source, asked.root)
    tasks: list[Task] = [
        Forward(given or Planting(int(p.x), _FORWARD_EDGES * int(p.x)), int(p.x), rounds=3 if asked.quick else 7)
        for p in points
    ]
    found = run_cells(tasks, execution)

    def only(cell: Measured, model: str) -> Measured:  # one model's time out of a cell that timed them all
        return replace(cell, figures=None if cell.figures is None else {"forward_seconds": cell.figures[model]})

    entries = tuple(
        Entry(point.label, variant.label, summarise([only(cell, variant.label)], ("forward_seconds",)))
        for point, cell in zip(points, found, strict=True)
        for variant in asked.variants
        if variant.label in MODELS
    )
    source = f"planted networks, {_FORWARD_EDGES} edges per account" if given is None else name_of(given)
    return Reproduced(experiment, source, 1, entries, ())
