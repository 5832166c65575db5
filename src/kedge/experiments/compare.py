"""Several methods on one pair: the same splits, the same evaluation, mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from kedge.config import resolve
from kedge.context import Noting, Silent
from kedge.errors import KedgeError, did_you_mean
from kedge.evaluation import metrics_shown
from kedge.experiments.cells import Cell, Data, Pair, Shares
from kedge.experiments.measure import Measured, load_pair, split_anchors, with_profiles
from kedge.experiments.paper import Variant
from kedge.experiments.run import Execution, run_cells
from kedge.experiments.tables import Entry, shown, summarise
from kedge.methods import METHODS
from kedge.pipeline import note_fields


@dataclass(frozen=True)
class Overrides:
    """The user's settings on top of a variant's: `name=value`, and a TOML file below them."""

    assignments: tuple[str, ...] = ()
    file: Path | None = None


_NO_OVERRIDES: Final = Overrides()


@dataclass(frozen=True)
class Plan:
    """What is compared: methods under seeds on one pair; without shares the pair has its own test pairs."""

    pair: Pair
    shares: Shares | None
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    overrides: Overrides = _NO_OVERRIDES


@dataclass(frozen=True)
class Comparison:
    """The result of every method, in the order of the request, with the single cells behind each row."""

    entries: tuple[Entry, ...]
    cells: tuple[tuple[Measured, ...], ...]
    seeds: tuple[int, ...]
    shares: Shares | None

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        methods = []
        for entry, cells in zip(self.entries, self.cells, strict=True):
            each = [{"seed": seed, **asdict(cell)} for seed, cell in zip(self.seeds, cells, strict=True)]
            methods.append({"method": entry.method, **asdict(entry.summary), "cells": each})
        train = None if self.shares is None else self.shares.train
        return {"train": train, "seeds": list(self.seeds), "methods": methods}


def parse_methods(text: str) -> tuple[Variant, ...]:
    """`a,b:preset`: installed methods, each with its preset; for an unknown name the error has the nearest."""
    found = []
    for word in dict.fromkeys(part.strip() for part in text.split(",")):
        name, _, preset = word.partition(":")
        if name not in METHODS:
            raise KedgeError(f"no method {name!r}", remedy=did_you_mean(name, METHODS, "see `kedge compare --list`"))
        METHODS[name].check_installed()
        found.append(Variant(word, name, preset or "default"))
    return tuple(found)


def plan_cell(
    data: Data, shares: Shares | None, variant: Variant, seed: int, overrides: Overrides = _NO_OVERRIDES
) -> Cell:
    """The cell of a variant under a seed; `overrides` win over the variant's own settings."""
    given: Mapping[str, Any] = {"method": variant.method, "seed": seed}
    config = resolve(variant.preset, overrides.file, (*variant.settings, *overrides.assignments), given)
    return Cell(data, shares, config.model_dump(mode="json"))


def compare_methods(plan: Plan, execution: Execution) -> Comparison:
    """Measure every method under every seed."""
    # Seed by seed, so that an interrupted comparison has some figures of every method.
    cells = [
        plan_cell(plan.pair, plan.shares, variant, seed, plan.overrides)
        for seed in plan.seeds
        for variant in plan.variants
    ]
    found = run_cells(cells, execution)
    by_method = [tuple(found[i :: len(plan.variants)]) for i in range(len(plan.variants))]
    entries = tuple(
        Entry("", variant.label, summarise(mine)) for variant, mine in zip(plan.variants, by_method, strict=True)
    )
    return Comparison(entries, tuple(by_method), plan.seeds, plan.shares)


def check_plan(plan: Plan) -> tuple[str, ...]:
    """Read the files once, so that a mistake in them is one line and not a failed cell for every method; notes."""
    config = resolve("default", plan.overrides.file, plan.overrides.assignments)
    known = load_pair(plan.pair, config.read)
    if any(plan.pair.profiles):
        noted = Noting(Silent())
        read = with_profiles(known.problem, plan.pair, config.model_copy(update={"method": "kedge"}), noted)
        if read.profiles is not None:
            note_fields(read.profiles, known.problem.anchors, config, noted)
        unread = [variant.label for variant in plan.variants if not METHODS[variant.method].reads_profiles]
        more = [f"not read by {', '.join(unread)}: profiles"] if unread else []
        known = replace(known, notes=(*known.notes, *noted.notes, *more))
    if plan.shares is not None:
        split_anchors(known.problem.anchors, plan.shares, 0)
    elif len(plan.seeds) > 1:
        return (*known.notes, "the split is given: seeds differ only in what methods draw")
    return known.notes


def compared_rows(comparison: Comparison, brief: bool = False) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and rows of the table; a method without figures has its reason elsewhere."""
    columns = metrics_shown("brief" if brief else "compare")
    rows = []
    for entry in comparison.entries:
        summary = entry.summary
        cpu = "–" if (spent := summary.cpu_seconds) is None else f"{spent:.1f}" if spent < 100 else f"{spent:.0f}"
        peak = "–" if summary.peak_mb is None else f"{summary.peak_mb:.0f}"
        rows.append((entry.method, *(shown(summary, metric.name, brief=brief) for metric in columns), cpu, peak))
    return ("method", *(metric.label for metric in columns), "CPU s", "MB"), rows
