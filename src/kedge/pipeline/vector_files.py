"""`kedge embed`: vectors of one network or of two with the facts of their training, and both as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.network import NetworkVectors
from kedge.ingest import guard_table
from kedge.pipeline.embed import Embedded, EmbeddedPair, embed, embed_pair
from kedge.pipeline.inputs import Inputs
from kedge.pipeline.model_card import as_markdown, model_card
from kedge.store import Rows, dump_json, refuse_overwrite, vector_files, write_atomically, write_vectors
from kedge.types import KedgeError


@dataclass(frozen=True)
class Request:
    """What is embedded: one network, perhaps with hyperedges, features and profiles of its own, or two by their
    anchors."""

    network: Any
    right: Any = None
    anchors: Any = None
    hypergraph: Any = None
    profiles: Any = None
    features: Any = None

    def check(self) -> None:
        """Refuse what is neither one network nor two with their anchors."""
        if (self.right is None) != (self.anchors is None):
            raise KedgeError("two networks are embedded by their anchors", remedy="give a second network and --anchors")
        own = {"--hypergraph": self.hypergraph, "--profiles": self.profiles, "features": self.features}
        for option in (name for name, given in own.items() if self.right is not None and given is not None):
            raise KedgeError(f"{option} is of one network", remedy="leave it out, or embed each network alone")

    def files(self) -> dict[str, Path]:
        """The inputs that are files, by what they are."""
        named = {"network" if self.right is None else "left network": self.network, "right network": self.right}
        named |= {"anchors": self.anchors, "hypergraph": self.hypergraph, "profiles": self.profiles}
        return {name: Path(source) for name, source in named.items() if isinstance(source, str | Path)}


@dataclass(frozen=True)
class Made:
    """Vectors in the rows of a file, one record of `facts` for each network, what they were made from and by which
    settings."""

    vectors: Embedded | EmbeddedPair
    rows: tuple[Rows, ...]
    facts: tuple[dict[str, Any], ...]
    config: Config


def check_targets(out: Path, card: Path | None, force: bool) -> None:
    """Refuse, before any work, formats that there are not and files that exist."""
    files = vector_files(out)
    if card is not None and card.suffix.lower() not in (".md", ".json"):
        raise KedgeError(
            f"no format {card.suffix!r} for a model card", file=card, remedy="end its name in .md or .json"
        )
    for path in (*files, *((card,) if card is not None else ())):
        refuse_overwrite(path, force)


def embed_request(asked: Request, config: Config, context: RunContext) -> Made:
    """Vectors of the network, or of both; what is asked has been checked."""
    return _one(asked, config, context) if asked.right is None else _two(asked, config, context)


def _one(asked: Request, config: Config, context: RunContext) -> Made:
    name = Path(asked.network).name if isinstance(asked.network, str | Path) else "the network"
    own = {"hypergraph": asked.hypergraph, "features": asked.features, "profiles": asked.profiles}
    made = embed(asked.network, config, context, **own, name=name)
    if len(made.fit.hyperedges) == 1 and made.fit.hyperedges[0] is not None:
        context.progress.note(_describe(made.fit.hyperedges[0]))
    return Made(made, (Rows("", made.ids, made.vectors),), (_facts(name, made.edges, made.fit),), config)


def _two(asked: Request, config: Config, context: RunContext) -> Made:
    made = embed_pair(Inputs(asked.network, asked.right, asked.anchors), config, context)
    sides = (("left", made.problem.left, made.left), ("right", made.problem.right, made.right))
    rows = tuple(Rows(side, network.ids, vectors) for side, network, vectors in sides)
    facts, builders = [], made.training.get("builders", {})
    for side, network, vectors in sides:
        curve = made.training.get("curves", {}).get("loss", {}).get(side) or []
        trivial = made.training.get("curves", {}).get("loss", {}).get("trivial") or [None]
        facts.append(
            {
                "name": f"the {side} network",
                "accounts": network.n,
                "edges": network.edges,
                "dimensions": vectors.shape[1],
                "anchors": len(made.problem.anchors),
                "steps": max(made.training.get("steps", {}).get(side) or [0]),
                "loss": _five(curve),
                "trivial_loss": trivial[0],
                "levels": made.training.get("levels", {}).get(side),
                "builders": builders.get(side, builders.get("both networks")),
            }
        )
    return Made(made, rows, tuple(facts), config)


def _facts(name: str, edges: int, fit: NetworkVectors) -> dict[str, Any]:
    n, d = fit.vectors.shape
    # Of several parts the mean by their accounts.
    weights = np.bincount(fit.parts.part, minlength=len(fit.losses)).astype(float)
    trained = [p for p, curve in enumerate(fit.losses) if len(curve)]
    judged = [auc for p in trained if (auc := fit.auc[p]) is not None]
    auc = float(np.average(judged, weights=weights[trained])) if judged and len(judged) == len(trained) else None
    return {
        "name": name,
        "accounts": n,
        "edges": edges,
        "dimensions": d,
        "parts": len(fit.losses),
        "steps": max(fit.steps),
        "loss": _five(fit.curve),
        "trivial_loss": fit.trivial,
        "held_out_auc": auc,
        "largest_residual": float(fit.residuals.max()),
        "verdict": "trained" if trained else "nothing to learn",
        "levels": fit.level_shares,
        "builders": None if fit.choice is None else fit.choice.facts(),
        "hypergraph": fit.hyperedges[0] if len(fit.hyperedges) == 1 else list(fit.hyperedges),
    }


def _five(curve: list[float]) -> list[float]:
    """The loss at five steps, from the first to the last."""
    return [curve[i] for i in sorted({round(i * (len(curve) - 1) / 4) for i in range(5)})] if curve else []


def _describe(facts: Mapping[str, Any]) -> str:
    """A hypergraph in one line: number and size of hyperedges, coverage, memory."""
    outside = f", {facts['outside']:,} accounts in none" if facts["outside"] else ""
    return (
        f"{facts['hyperedges']:,} hyperedges of {facts['smallest']:,} to {facts['largest']:,} accounts "
        f"(median {facts['median']:,.0f}), coverage {facts['coverage']:.2g}{outside}, {facts['bytes'] / 1e6:,.1f} MB"
    )


def write_embedded(made: Made, asked: Request, out: Path, card: Path | None, preset: str, *, raw: bool) -> int:
    """Write the vectors, and their model card if there is to be one; how many ids got an apostrophe."""
    rows, changed = made.rows, 0
    if out.suffix.lower() == ".csv" and not raw:
        guarded = [guard_table(pa.table({"id": one.ids})) for one in rows]
        changed = sum(cells for _, cells in guarded)
        rows = tuple(one._replace(ids=ids["id"].combine_chunks()) for one, (ids, _) in zip(rows, guarded, strict=True))
    write_vectors(out, rows)
    if card is not None:
        found = model_card(asked.files(), made.facts, made.config, preset, out)
        text = dump_json(found) if card.suffix.lower() == ".json" else as_markdown(found)
        write_atomically(card, lambda file: file.write(text.encode()))
    return changed
