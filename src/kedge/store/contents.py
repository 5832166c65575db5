"""A finished run read back from its directory, every file of it checked before it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kedge.answers import Sample
from kedge.config import Config
from kedge.store.artefacts import Artefacts, open_artefacts
from kedge.store.cache import DiskCache
from kedge.store.formats import JSON, SAMPLE, TABLE, load_column
from kedge.store.layout import (
    ANCHORS,
    AUDIT,
    CALIBRATION,
    DECIDED,
    EMBEDDINGS,
    EVALUATION,
    FIELDS,
    HELD_OUT,
    HYPERGRAPHS,
    MATCHES,
    METRICS,
    NETWORKS,
    PARTS,
    PRIOR,
    PROFILES,
    SCORES,
    SETTINGS,
    SHARED_VALUES,
    SUPPORT,
    SUSPECTS,
    TRAINING,
)
from kedge.store.renamed import rename_evaluation
from kedge.types import (
    DECISIONS,
    Alignment,
    Hypergraph,
    IntArray,
    KedgeError,
    Matches,
    Problem,
    Profiles,
    Support,
    Suspects,
)

if TYPE_CHECKING:
    from kedge.probability import AnyCalibrator  # it loads scipy.optimize
    from kedge.profiles import FittedFields, KnownFields


def open_finished(directory: Path, *more: str) -> Artefacts:
    """The files of a finished run, or one line of error where it is not finished."""
    artefacts = open_artefacts(directory)
    if not all(artefacts.has(name) for name in (MATCHES.file, *more)):
        raise KedgeError("the run is not finished", file=directory, remedy="run its `kedge match` command again")
    return artefacts


@dataclass(frozen=True)
class Scored:
    """A finished run before its decisions: all that they follow from."""

    problem: Problem
    config: Config
    alignment: Alignment
    calibrator: AnyCalibrator


def load_scored(directory: Path) -> Scored:
    """What a run decided from, with the user's settings."""
    artefacts = open_finished(directory)
    return Scored(
        load_problem(artefacts),
        run_config(artefacts.manifest),
        artefacts.load(SCORES),
        artefacts.load(CALIBRATION),
    )


def run_config(manifest: Mapping[str, Any]) -> Config:
    """The settings of a run: those of its `kedge match`, and on top of them those of `kedge decide`."""
    given = manifest["config"]
    return Config.model_validate({**given, "decide": {**given["decide"], **manifest.get("decide", {})}})


def load_threshold(artefacts: Artefacts) -> float:
    """The probability from which a run called an assigned pair a match."""
    return float(artefacts.read(DECIDED, JSON)["threshold"])


def load_decided(artefacts: Artefacts) -> tuple[Problem, Matches, Config]:
    """A finished run as it was decided, without its scores: quicker than `load_scored` where only looking is meant."""
    problem = load_problem(artefacts)
    plain = ("rank", "score", "probability", "margin", "counterpart", "assigned")
    with artefacts.open(MATCHES.file) as file:
        coded = {name: load_column(file, name, coded=True) for name in ("left", "right", "decision")}
        columns = {name: load_column(file, name).to_numpy(zero_copy_only=False) for name in plain}
        found = {
            "left": problem.left.find(coded["left"].dictionary),
            "right": problem.right.find(coded["right"].dictionary),
            "decision": np.array([DECISIONS.index(word) for word in coded["decision"].dictionary.to_pylist()], np.int8),
        }
    columns |= {name: found[name][np.asarray(coded[name].indices)] for name in found}
    order = np.lexsort((columns["rank"], columns["left"]))  # by account, as they were decided
    matches = Matches(
        left_ids=problem.left.ids,
        right_ids=problem.right.ids,
        **{name: column[order] for name, column in columns.items()},
        threshold=load_threshold(artefacts),
    )
    return problem, matches, run_config(artefacts.manifest)


def load_problem(artefacts: Artefacts) -> Problem:
    """The networks and the anchors of a run, and the hypergraphs that the user gave."""
    left, right = (artefacts.load(stage) for stage in NETWORKS)
    known = artefacts.load(ANCHORS)
    own, values = (
        [Hypergraph(artefacts.load(stage)) if artefacts.has(stage.file) else None for stage in stages]
        for stages in (HYPERGRAPHS, SHARED_VALUES)
    )
    rejected = known.get("rejected", np.empty((0, 2), np.int64))
    return Problem(left, right, known["anchors"], rejected, (own[0], own[1]), shared_values=(values[0], values[1]))


def load_suspects(artefacts: Artefacts) -> Suspects:
    """The anchors that a run did not use; none in a run of a version that did not examine them."""
    found: Suspects = artefacts.load(SUSPECTS) if artefacts.has(SUSPECTS.file) else Suspects()
    return found


@dataclass(frozen=True)
class Contents:
    """What lies in the directory of a finished run, as it was written: nothing is computed again.

    `name` is that of the directory. A pair was called a match from `threshold` on. `metrics` and `evaluation` are of
    the test pairs, None where the run had none; `training` and `parts` are there only if the method left them (`layout`
    describes them). `support` explains single pairs, where the method left anything of the kind. `audit` is what an
    audit shows of the decisions, None without one; `counterparts` how they hang on the share with a counterpart.
    `fields` is what each field of the profiles is worth, `known_fields` has their values too, if the run keeps them;
    `with_vectors`: whether vectors are a part of its evidence.
    """

    name: str
    manifest: Mapping[str, Any]
    config: Config
    problem: Problem
    calibrator: AnyCalibrator
    table: pa.Table
    threshold: float
    metrics: Mapping[str, Any] | None
    evaluation: Mapping[str, Any] | None
    training: Mapping[str, Any] | None
    parts: Mapping[str, Any] | None
    support: Support | None = None
    audit: Mapping[str, Any] | None = None
    counterparts: Sequence[Mapping[str, Any]] = ()
    suspects: Suspects = field(default_factory=Suspects)
    fields: FittedFields | None = None
    known_fields: KnownFields | None = None
    with_vectors: bool = True


def load_contents(directory: Path) -> Contents:
    """All that a report shows, read from a finished run."""
    artefacts = open_finished(directory, DECIDED)
    held = {
        name: artefacts.read(name, JSON) if artefacts.has(name) else None
        for name in (METRICS, EVALUATION, TRAINING.file, PARTS.file)
    }
    metrics, summary = held[METRICS], artefacts.read(DECIDED, JSON)
    return Contents(
        name=directory.resolve().name,
        manifest=artefacts.manifest,
        config=run_config(artefacts.manifest),
        problem=load_problem(artefacts),
        calibrator=artefacts.load(CALIBRATION),
        table=artefacts.load(MATCHES),
        threshold=load_threshold(artefacts),
        metrics=metrics if metrics and metrics.get("test_pairs") else None,
        evaluation=None if held[EVALUATION] is None else rename_evaluation(held[EVALUATION]),
        training=held[TRAINING.file],
        parts=held[PARTS.file],
        support=load_support(artefacts),
        audit=summary.get("audit"),
        counterparts=summary.get("counterparts", ()),
        suspects=load_suspects(artefacts),
        fields=load_fields(artefacts),
        known_fields=load_known_fields(artefacts),
        with_vectors=load_settings(artefacts).pairing.use == "yes",
    )


def load_sample(artefacts: Artefacts) -> Sample | None:
    """The sample of an audit, with the answers that the run's decisions use; None where none was drawn."""
    return artefacts.read(AUDIT, SAMPLE) if artefacts.has(AUDIT) else None


def load_held_out(artefacts: Artefacts, problem: Problem) -> IntArray | None:
    """The held-out pairs of a run as accounts (-1: in no edge), [m, 2]; None where it was given none."""
    if not artefacts.has(HELD_OUT):
        return None
    table = artefacts.read(HELD_OUT, TABLE)
    return np.column_stack([problem.left.find(table["left"]), problem.right.find(table["right"])])


def held_out_table(pairs: IntArray, problem: Problem) -> pa.Table:
    """The same pairs by the users' ids."""
    sides = zip(("left", "right"), (problem.left, problem.right), pairs.T, strict=True)
    return pa.table({side: network.ids.take(pa.array(at, mask=at < 0)) for side, network, at in sides})


def load_support(artefacts: Artefacts) -> Support | None:
    """What explains single pairs of a run; None where its method left nothing of the kind."""
    if not artefacts.has(SUPPORT.file):
        return None
    prior = artefacts.load(PRIOR) if artefacts.has(PRIOR.file) else None
    return Support(artefacts.load(SUPPORT), prior)


def load_fields(artefacts: Artefacts) -> FittedFields | None:
    """What each field of the profiles is worth; None in a run without profiles."""
    found: FittedFields | None = artefacts.load(FIELDS) if artefacts.has(FIELDS.file) else None
    return found


def load_known_fields(artefacts: Artefacts) -> KnownFields | None:
    """The profiles of a run; None where it has none, or `profiles.keep` is none."""
    fitted = load_fields(artefacts)
    if fitted is None or not all(artefacts.has(stage.file) for stage in PROFILES):
        return None
    from kedge.profiles import KnownFields

    left, right = (Profiles(artefacts.load(stage)) for stage in PROFILES)
    return KnownFields(left, right, fitted)


def load_settings(artefacts: Artefacts) -> Config:
    """The settings of a run with what was chosen for those left open."""
    config: Config = artefacts.load(SETTINGS) if artefacts.has(SETTINGS.file) else run_config(artefacts.manifest)
    return config


def load_mixture(artefacts: Artefacts) -> tuple[float, ...]:
    """The weights by which candidates stand in another order than that of their log-odds; none where they do not."""
    return load_settings(artefacts).pairing.mixture if artefacts.has(SETTINGS.file) else ()


def open_vectors(artefacts: Artefacts) -> DiskCache:
    """The vectors that a finished run has cached, each of them checked."""
    for file in artefacts.vectors():
        with artefacts.open(file):
            pass
    return DiskCache(artefacts.directory / EMBEDDINGS, lambda _damaged: None)
