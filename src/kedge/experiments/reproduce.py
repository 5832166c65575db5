"""An experiment of the paper run: cells planned from its declaration, figures beside those that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kedge.experiments.cells import Cut, Data, File, PlantedPair, Planting, Shares
from kedge.experiments.compare import plan_cell
from kedge.experiments.forward import MODELS, Forward
from kedge.experiments.measure import Measured
from kedge.experiments.paper import Experiment, Point, Variant, published
from kedge.experiments.run import Task, run_cells
from kedge.experiments.sources import find_network, find_pair, words_for
from kedge.experiments.tables import Entry, summarise

__all__ = ["QUICK", "Asked", "Reproduced", "reproduce"]

_STAND_IN: Final = PlantedPair(4_000, 2_400, 40_000, 0.4)
_FORWARD_EDGES: Final = 13  # edges an account of the planted networks whose forward passes are timed
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
_QUICK_STAND_IN: Final = PlantedPair(1_200, 700, 12_000, 0.4)


@dataclass(frozen=True)
class Asked:
    """How to run an experiment: perhaps with fewer methods and points than it declares, or another share of observed
    anchors."""

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
    """What came out, one entry a point and method, and what it was measured on."""

    experiment: Experiment
    source: str
    seeds: int
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As what JSON can say."""
        paper = published()[self.experiment.name]
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.source,
            "seeds": self.seeds,
            "notes": list(self.notes),
            "paper": {"place": paper["place"], "note": paper["note"]},
            "entries": [entry.plain() for entry in self.entries],
        }


def reproduce(
    experiment: Experiment,
    asked: Asked,
    directory: Path | None = None,
    workers: int = 1,
    tell: Callable[[int, int], None] | None = None,
) -> Reproduced:
    """Measure an experiment; finished cells are taken from the directory."""
    wanted = asked.points or (experiment.quick if asked.quick else None)
    points = [p for p in experiment.points if wanted is None or p.label in wanted]
    if experiment.name == "efficiency":
        return _reproduce_forward(experiment, asked, points, directory, workers, tell)
    if asked.train is not None:
        points = [replace(point, shares=_other_train(point.shares, asked.train)) for point in points]
    settings = (*(QUICK if asked.quick else ()), *asked.settings)
    sources, notes = _sources(points, asked)
    seeds = range(asked.seeds)
    plan: list[Task] = [
        plan_cell(data, point.shares, variant, seed, (*point.settings, *settings))
        for seed in seeds
        for point, (data, _) in zip(points, sources, strict=True)
        for variant in asked.variants
    ]
    found = run_cells(plan, directory, workers, tell)
    rows = [(point, variant) for point in points for variant in asked.variants]
    entries = tuple(
        Entry(
            point.label, variant.label, summarise(found[i :: len(rows)]), _paper_says(experiment, point, variant.label)
        )
        for i, (point, variant) in enumerate(rows)
    )
    used = ", ".join(dict.fromkeys(words for _, words in sources))
    return Reproduced(experiment, used, asked.seeds, entries, tuple(notes))


def _other_train(shares: Shares, train: float) -> Shares:
    """Another share of observed anchors; what is held out shrinks only if it must."""
    return Shares(train, min(shares.test, round(1 - train, 9)))


def _sources(points: Sequence[Point], asked: Asked) -> tuple[list[tuple[Data, str]], list[str]]:
    """The data of each point with its name, and notes on what stands in for what."""
    notes: list[str] = []
    network: File | Planting | None = None
    made: list[tuple[Data, str]] = []
    for point in points:
        if point.pair is not None:
            pair = find_pair(point.pair, asked.root)
            stand_in = _QUICK_STAND_IN if asked.quick else _STAND_IN
            if pair is None:
                notes.append(f"{point.pair} is not at hand (set KEDGE_DATA): a planted pair stands in for it")
            made.append((stand_in, "a planted pair") if pair is None else (pair, point.pair))
            continue
        if network is None:
            network = find_network(asked.source, asked.root)
            if isinstance(network, Planting) and asked.quick:
                network = _QUICK_PLANTED
            if isinstance(network, Planting) and asked.source is None:
                notes.append("ego-facebook is not at hand (set KEDGE_DATA): a planted network stands in for it")
        made.append((Cut(network, *point.alphas), words_for(network)))
    return made, notes


def _paper_says(experiment: Experiment, point: Point, label: str) -> dict[str, float]:
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
    experiment: Experiment,
    asked: Asked,
    points: Sequence[Point],
    directory: Path | None,
    workers: int,
    tell: Callable[[int, int], None] | None,
) -> Reproduced:
    """Forward times; planted networks of each size unless one is given, since growing is the point."""
    given = None if asked.source in (None, "planted") else find_network(asked.source, asked.root)
    tasks: list[Task] = [
        Forward(given or Planting(int(p.x), _FORWARD_EDGES * int(p.x)), int(p.x), rounds=3 if asked.quick else 7)
        for p in points
    ]
    found = run_cells(tasks, directory, workers, tell)
    entries = tuple(
        Entry(point.label, variant.label, summarise([_only(cell, variant.label)], ("forward_seconds",)))
        for point, cell in zip(points, found, strict=True)
        for variant in asked.variants
        if variant.label in MODELS
    )
    source = f"planted networks, {_FORWARD_EDGES} edges an account" if given is None else words_for(given)
    return Reproduced(experiment, source, 1, entries, ())


def _only(cell: Measured, model: str) -> Measured:
    """One model's time out of a cell that timed them all."""
    return replace(cell, figures=None if cell.figures is None else {"forward_seconds": cell.figures[model]})
