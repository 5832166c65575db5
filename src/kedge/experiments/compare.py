"""Several methods on one pair: the same splits, the same evaluation, mean and spread over seeds."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kedge.config import resolve
from kedge.errors import KedgeError
from kedge.experiments.cells import Cell, Data, Shares
from kedge.experiments.measure import Measured
from kedge.experiments.paper import Variant
from kedge.experiments.run import run_cells
from kedge.experiments.tables import Entry, shown, summarise
from kedge.methods import METHODS

__all__ = ["COLUMNS", "NARROW", "Comparison", "compare", "compared_rows", "parse_methods", "plan_cell"]

COLUMNS: tuple[tuple[str, str], ...] = (
    ("hits1", "Hits@1"),
    ("hits10", "Hits@10"),
    ("mrr", "MRR"),
    ("matched_hits1", "matched"),
    ("macro_f1", "Macro-F1"),
    ("macro_f1_1to2", "at 1:2"),
)
NARROW = tuple(column for column in COLUMNS if column[0] in ("hits1", "mrr", "matched_hits1", "macro_f1"))


@dataclass(frozen=True)
class Comparison:
    """What came of every method, in the order asked for, with the single cells behind each row."""

    entries: tuple[Entry, ...]
    cells: tuple[tuple[Measured, ...], ...]
    seeds: tuple[int, ...]
    shares: Shares | None

    def plain(self) -> dict[str, Any]:
        """As what JSON can say."""
        methods = []
        for entry, cells in zip(self.entries, self.cells, strict=True):
            row = entry.plain()
            row.pop("point")
            row.pop("paper")
            summary = row.pop("summary")
            each = [{"seed": seed, **cell.plain()} for seed, cell in zip(self.seeds, cells, strict=True)]
            methods.append({**row, **summary, "cells": each})
        train = None if self.shares is None else self.shares.train
        return {"train": train, "seeds": list(self.seeds), "methods": methods}


def parse_methods(text: str) -> list[Variant]:
    """`a,b:preset`: methods, each with a preset where one is wanted; for an unknown name the nearest is named."""
    found = []
    for word in dict.fromkeys(part.strip() for part in text.split(",")):
        name, _, preset = word.partition(":")
        if name not in METHODS:
            near = difflib.get_close_matches(name, METHODS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "see `kedge compare --list`"
            raise KedgeError(f"no method {name!r}", remedy=hint)
        found.append(Variant(word, name, preset or "default"))
    return found


def plan_cell(
    data: Data,
    shares: Shares | None,
    variant: Variant,
    seed: int,
    settings: Sequence[str] = (),
    file: Path | None = None,
) -> Cell:
    """The cell of a variant under a seed; `settings` win over the variant's own."""
    given: Mapping[str, Any] = {"method": variant.method, "seed": seed}
    config = resolve(variant.preset, file, (*variant.settings, *settings), given)
    return Cell(data, shares, config.model_dump(mode="json"))


def compare(
    data: Data,
    shares: Shares | None,
    variants: Sequence[Variant],
    seeds: Sequence[int],
    *,
    settings: Sequence[str] = (),
    file: Path | None = None,
    directory: Path | None = None,
    workers: int = 1,
    tell: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Measure every method under every seed; without shares the data has its own test pairs."""
    # Seed by seed, so that a comparison cut short has something of every method.
    plan = [plan_cell(data, shares, variant, seed, settings, file) for seed in seeds for variant in variants]
    found = run_cells(plan, directory, workers, tell)
    by_method = [tuple(found[i :: len(variants)]) for i in range(len(variants))]
    entries = tuple(
        Entry("", variant.label, summarise(cells)) for variant, cells in zip(variants, by_method, strict=True)
    )
    return Comparison(entries, tuple(by_method), tuple(seeds), shares)


def compared_rows(
    comparison: Comparison, columns: Sequence[tuple[str, str]] = COLUMNS, brief: bool = False
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and rows of the table for people; a method without figures has its reason elsewhere."""
    rows = []
    for entry in comparison.entries:
        summary = entry.summary
        cpu = "–" if (spent := summary.cpu_seconds) is None else f"{spent:.1f}" if spent < 100 else f"{spent:.0f}"
        peak = "–" if summary.peak_mb is None else f"{summary.peak_mb:.0f}"
        rows.append((entry.method, *(shown(summary, name, brief=brief) for name, _ in columns), cpu, peak))
    return ("method", *(words for _, words in columns), "CPU s", "MB"), rows
