"""The example that comes with kedge: two small networks, some pairs known, others held out, and profiles.

The files are part of the package, so that every reader sees the same ones, whatever the version of numpy.
`make_example` is what made them: a planted pair with profiles of medium difficulty, under handles instead of numbers.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from importlib.resources import files
from typing import Final

import numpy as np
import pyarrow as pa

from kedge.synthetic.pair import Planted, anchor_table, edge_table, split
from kedge.synthetic.people import plant_profiles
from kedge.synthetic.social import planted
from kedge.types import Network

EXAMPLE_FILES: Final = (
    "left.csv",
    "right.csv",
    "known.csv",
    "held-out.csv",
    "left-profiles.csv",
    "right-profiles.csv",
)
_SEED: Final = 7
_KNOWN: Final = 0.25  # of the persons in both networks


def read_example(name: str) -> bytes:
    """The bytes of one of `EXAMPLE_FILES`."""
    return (files("kedge.synthetic") / "example_files" / name).read_bytes()


def make_example() -> dict[str, bytes]:
    """The files of `EXAMPLE_FILES`, by name: 320 persons are in both networks, 100 only left, 80 only right."""
    numbered = planted(420, 400, 320, 2900, 2700, 0.75, _SEED)
    left, right = plant_profiles(numbered, "medium", _SEED)
    rng = np.random.default_rng(_SEED)
    made = Planted(
        _under_handles(numbered.left, left, rng),
        _under_handles(numbered.right, right, rng),
        numbered.anchors,
        numbered.notes,
        numbered.realised,
    )
    known, held_out = split(made.anchors, _KNOWN, _SEED)
    tables = (
        edge_table(made.left, _SEED),
        edge_table(made.right, _SEED + 1),
        anchor_table(made.left, made.right, known).sort_by("left"),
        anchor_table(made.left, made.right, held_out).sort_by("left"),
        _named(left, numbered.left, made.left),
        _named(right, numbered.right, made.right),
    )
    return {name: _csv(table) for name, table in zip(EXAMPLE_FILES, tables, strict=True)}


def _csv(table: pa.Table) -> bytes:
    """UTF-8, quotes only where they are needed, an empty cell for what is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return text.getvalue().encode()


def _under_handles(network: Network, profiles: pa.Table, rng: np.random.Generator) -> Network:
    """The network with an account's handle as its id, in plain letters, with digits where it is taken already."""
    handles = dict(zip(profiles["id"].to_pylist(), profiles["handle"].to_pylist(), strict=True))
    taken: set[str] = set()
    for name in network.ids.to_pylist():
        plain = _plain(handles[name] or f"user{rng.integers(1000, 10_000)}")
        handle = plain
        while handle in taken:
            handle = f"{plain}{rng.integers(10, 100)}"
        handles[name] = handle
        taken.add(handle)
    ids = [handles[name] for name in network.ids.to_pylist()]
    return Network(network.adjacency, pa.array(ids, network.ids.type))


def _plain(handle: str) -> str:
    """Without accents, as most networks want it."""
    folded = unicodedata.normalize("NFKD", handle.replace("ł", "l").replace("Ł", "L"))
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def _named(profiles: pa.Table, numbered: Network, named: Network) -> pa.Table:
    """Profiles under the new ids: account, name, city, bio."""
    ids = dict(zip(numbered.ids.to_pylist(), named.ids.to_pylist(), strict=True))
    columns = {name: profiles[name] for name in ("name", "city", "bio")}
    return pa.table({"account": [ids[name] for name in profiles["id"].to_pylist()], **columns})
