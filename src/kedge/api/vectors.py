"""`kedge.embed`: MGCN vectors of one network, or of two in one space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kedge.api.objects import as_path, as_settings, as_source
from kedge.api.progress import progress_of
from kedge.api.wording import in_python, worded
from kedge.config import resolve
from kedge.context import Noting, Progress, RunContext
from kedge.types import FloatArray

if TYPE_CHECKING:  # torch takes seconds to load: only embedding pays for it
    from kedge.embedding.network import NetworkVectors
    from kedge.pipeline.vector_files import Made, Request


class Embedding:
    """Vectors of accounts: `ids` and `vectors` [n, d], row by row; `side` is "", left or right.

    `fit` is what is known of the training, None where two networks were embedded together; `facts` its figures.
    """

    def __init__(
        self, ids: pa.Array, vectors: FloatArray, side: str, facts: Mapping[str, Any], fit: Any = None
    ) -> None:
        self.ids, self.vectors, self.side, self.facts = ids, vectors, side, dict(facts)
        self.fit: NetworkVectors | None = fit

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: object) -> FloatArray:
        from kedge.api.objects import one_id
        from kedge.api.tables import MissingRowError

        place = self.ids.index(one_id(name)).as_py()
        if place < 0:
            raise MissingRowError(f"no account {one_id(name)!r} among the vectors")
        return np.asarray(self.vectors[place])

    def to_arrow(self) -> pa.Table:
        """A column of ids and one of vectors."""
        flat = pa.array(np.ascontiguousarray(self.vectors).ravel())
        return pa.table({"id": self.ids, "vector": pa.FixedSizeListArray.from_arrays(flat, self.vectors.shape[1])})

    def __repr__(self) -> str:
        n, d = self.vectors.shape
        return f"<kedge vectors: {n:,} accounts, {d} dimensions{', ' + self.side if self.side else ''}>"


class EmbeddedNetworks:
    """What `kedge.embed` made. Of one network `ids`, `vectors` and `fit` are its own; of two, `left` and `right` are in
    one space: vectors of the same person are near. `save` writes a file that other programs load."""

    def __init__(self, made: Made, asked: Request, preset: str, notes: tuple[str, ...]) -> None:
        self._made, self._asked, self._preset = made, asked, preset
        self.notes = notes
        fit = getattr(made.vectors, "fit", None)
        self.parts = tuple(
            Embedding(rows.ids, rows.vectors, rows.network, facts, fit)
            for rows, facts in zip(made.rows, made.facts, strict=True)
        )

    @property
    def left(self) -> Embedding:
        """The vectors of the left network, or of the only one."""
        return self.parts[0]

    @property
    def right(self) -> Embedding:
        """The vectors of the right network."""
        return self.parts[-1]

    @property
    def ids(self) -> pa.Array:
        """The ids of the left network, or of the only one."""
        return self.left.ids

    @property
    def vectors(self) -> FloatArray:
        """Its vectors, float32 [n, d], in the same order."""
        return self.left.vectors

    @property
    def fit(self) -> NetworkVectors | None:
        """What is known of the training of the only network."""
        return self.left.fit

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @worded
    def save(self, path: str | Path, *, card: str | Path | None = None, raw: bool = False, force: bool = False) -> Path:
        """Write the vectors as .parquet, .csv, .npz, .npy, .txt or .vec (word2vec) or .safetensors, and a model card
        as .md or .json; the path."""
        from kedge.pipeline.vector_files import check_targets, write_embedded

        place, described = as_path(path, "path"), None if card is None else as_path(card, "card")
        check_targets(place, described, force)
        write_embedded(self._made, self._asked, place, described, self._preset, raw=raw)
        return place

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.parts))


@worded
def embed(
    network: Any,
    right: Any = None,
    anchors: Any = None,
    *,
    out: str | Path | None = None,
    card: str | Path | None = None,
    hypergraph: Any = None,
    features: Any = None,
    profiles: Any = None,
    preset: str = "default",
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    raw: bool = False,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> EmbeddedNetworks:
    """Vectors of one network by MGCN, as `kedge embed` makes them; with a second one and anchors, of both in one space.

    network, right, anchors: as for `match`. out: a file for the vectors; parts that are trained by then are resumed.
    card: a model card, .md or .json.
    hypergraph: hyperedges of the user's own in place of the built ones: a path or a frame of account, hyperedge and p,
    or a matrix with one row for each account in the order of `.ids`.
    features: [n, f], in the same order, for `settings={"mgcn.start": "given"}`; one part only.
    profiles: what else is known of the accounts, for `settings={"hypergraph.builders": "neighbourhood+profiles"}`: a
    path or a frame with a column of ids and any other columns.
    """
    from kedge.context import need_extra

    need_extra("mgcn", "training vectors")
    from kedge.pipeline.vector_files import Request, check_targets, embed_request, write_embedded
    from kedge.store import DiskCache

    own = (as_source(hypergraph), as_source(profiles))
    asked = Request(as_source(network), as_source(right), as_source(anchors), *own, features)
    asked.check()
    place, described = None if out is None else as_path(out, "out"), None if card is None else as_path(card, "card")
    if place is not None:
        check_targets(place, described, force)
    given = as_settings(settings) | ({} if seed is None else {"seed": seed})
    chosen = resolve(preset, None if config is None else as_path(config, "config"), (), given)
    noting = Noting(progress_of(progress))
    if place is None:
        made = embed_request(asked, chosen, RunContext(progress=noting))
    else:
        cache = DiskCache(place.with_name(f"{place.name}.parts"), noting.note)
        made = embed_request(asked, chosen, RunContext(cache, noting))
        write_embedded(made, asked, place, described, preset, raw=raw)
        cache.clear()
    return EmbeddedNetworks(made, asked, preset, tuple(map(in_python, noting.notes)))
