"""`kedge.synth`: two networks whose truth is known, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from kedge import synthetic
from kedge.api.objects import as_path, as_settings, as_source
from kedge.api.progress import progress_of
from kedge.api.wording import worded
from kedge.config import resolve
from kedge.context import Progress
from kedge.pipeline.planted import (
    Wanted,
    check_difficulty,
    check_place,
    cut_pair,
    plant_pair,
    write_example,
    write_pair,
)
from kedge.synthetic import Planted


class SynthPair:
    """Two networks with known truth, each as an Arrow table.

    `left` and `right` have the edges, `anchors` every person in both, `train` and `test` a split of them;
    `left_profiles` and `right_profiles` are None unless they were asked for. `realised` are the figures that came out.
    """

    def __init__(self, made: Planted, train: float, seed: int, difficulty: str | None) -> None:
        self._made, self._train, self._seed, self._difficulty = made, train, seed, difficulty
        self.notes, self.realised = made.notes, dict(made.realised)

    @cached_property
    def left(self) -> pa.Table:
        """The edges of the left network."""
        return synthetic.edge_table(self._made.left, self._seed)

    @cached_property
    def right(self) -> pa.Table:
        """The edges of the right network."""
        return synthetic.edge_table(self._made.right, self._seed + 1)

    def _pairs(self, pairs: Any) -> pa.Table:
        return synthetic.anchor_table(self._made.left, self._made.right, pairs)

    @cached_property
    def anchors(self) -> pa.Table:
        """Every pair of accounts of one person."""
        return self._pairs(self._made.anchors)

    @cached_property
    def train(self) -> pa.Table:
        """The pairs to match with."""
        return self._pairs(synthetic.split(self._made.anchors, self._train, self._seed)[0])

    @cached_property
    def test(self) -> pa.Table:
        """The pairs to measure on."""
        return self._pairs(synthetic.split(self._made.anchors, self._train, self._seed)[1])

    @cached_property
    def _profiles(self) -> tuple[pa.Table | None, pa.Table | None]:
        if self._difficulty is None:
            return None, None
        left, right = synthetic.plant_profiles(self._made, self._difficulty, self._seed)
        return left, right

    @property
    def left_profiles(self) -> pa.Table | None:
        """The profiles of the left accounts."""
        return self._profiles[0]

    @property
    def right_profiles(self) -> pa.Table | None:
        """The profiles of the right accounts."""
        return self._profiles[1]

    @worded
    def write(self, out: str | Path, *, format: str = "tsv", force: bool = False) -> Path:
        """Write all of it into a directory, as `kedge synth` does, in `format` tsv or parquet; the directory."""
        place = as_path(out, "out")
        check_place(place, format, force)
        write_pair(self._made, place, self._train, self._seed, format, self._difficulty)
        return place

    def __repr__(self) -> str:
        left, right = self._made.left, self._made.right
        return f"<kedge synthetic pair: {left.n:,} and {right.n:,} accounts, {len(self._made.anchors):,} in both>"


@worded
def synth(
    network: Any = None,
    *,
    out: str | Path | None = None,
    nodes: int = 2000,
    left_nodes: int | None = None,
    right_nodes: int | None = None,
    anchors: int | None = None,
    left_edges: int | None = None,
    right_edges: int | None = None,
    overlap: float = 0.6,
    alpha_s: float = 0.9,
    alpha_c: float = 0.9,
    train: float = 0.2,
    profiles: str | None = None,
    seed: int = 0,
    format: str = "tsv",
    settings: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> SynthPair:
    """Two networks whose truth is known: a planted social pair, or the paper's two sub-networks of `network`.

    Planted: `nodes` accounts on each side, `anchors` persons in both, a share `overlap` of edges in common, and
    `profiles` "easy", "medium" or "hard". Cut from a network: a share `alpha_s` of its edges in each, `alpha_c` in
    both.
    `train` is the share of anchors to match with. `out` writes it all into a directory.

    >>> import kedge
    >>> kedge.synth(nodes=50, seed=3)
    <kedge synthetic pair: 50 and 50 accounts, 37 in both>
    """
    check_difficulty(profiles)
    shown = progress_of(progress)
    place = None if out is None else as_path(out, "out")
    if place is not None:
        check_place(place, format, force)
    if network is None:
        wanted = Wanted(nodes, left_nodes, right_nodes, anchors, left_edges, right_edges, overlap)
        made = plant_pair(wanted, seed, shown)
    else:
        reading = resolve(overrides=as_settings(settings)).read
        made = cut_pair(as_source(network), reading, alpha_s, alpha_c, seed, shown)
    pair = SynthPair(made, train, seed, profiles)
    if place is not None:
        pair.write(place, format=format, force=force)
    return pair


@worded
def example(out: str | Path, *, force: bool = False) -> dict[str, Path]:
    """Write the example that comes with the package into a directory: two small networks, known and held-out pairs, and
    profiles, as `kedge demo --files` does. The files by what they are."""
    return write_example(as_path(out, "out"), force)
