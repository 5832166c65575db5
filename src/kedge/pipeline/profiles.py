"""Profiles of both networks: read, described, and warned of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, NoReturn

import numpy as np

from kedge import ingest
from kedge.config import AUTO, Config
from kedge.context import Progress
from kedge.methods import METHODS, Method
from kedge.profiles import describe_fields, field_warnings
from kedge.types import IntArray, KedgeError, Network, Profiles


def read_both(
    sources: tuple[Any, Any], networks: tuple[Network, Network], config: Config, progress: Progress
) -> tuple[Profiles, Profiles]:
    """The profiles of the left and of the right network."""
    missing = [side for side, source in zip(("left", "right"), sources, strict=True) if source is None]
    if missing:
        raise KedgeError(
            f"profiles of one network alone, none of the {missing[0]} one", remedy="give profiles of both, or of none"
        )
    made = []
    for side, source, network in zip(("left", "right"), sources, networks, strict=True):
        progress.stage(f"reading the {side} profiles")
        found, report = ingest.read_profiles(source, network, config.read, config.profiles.ids)
        for note in report.notes(side, network.n):
            progress.note(note)
        made.append(found)
    return made[0], made[1]


def note_fields(profiles: tuple[Profiles, Profiles], anchors: IntArray, config: Config, progress: Progress) -> None:
    """Notes on fields that say nothing, or too much."""
    facts = describe_fields(*profiles, anchors, config.profiles)
    for note in field_warnings(*profiles, facts, config.profiles):
        progress.note(note)


def note_unread(method: Method, progress: Progress) -> None:
    """A note where the method makes no use of profiles."""
    *most, last = (other.name for other in METHODS.values() if other.reads_profiles)
    drawn = "; --set hypergraph.builders=neighbourhood+profiles draws hyperedges from them"
    note = f"the method {method.name} does not read profiles; {', '.join(most)} and {last} do"
    progress.note(note + (drawn if method.reads_hypergraphs else ""))


def draws_from_profiles(config: Config, given: bool) -> bool:
    """Whether hyperedges are drawn from values of profiles, or may be where builders are chosen and profiles given."""
    return "profiles" in config.hypergraph.names or (given and config.hypergraph.builders == AUTO)


def refuse_no_profiles(options: str) -> NoReturn:
    """One line where hyperedges are to be drawn from profiles that are not given."""
    raise KedgeError(
        "hypergraph.builders has profiles, and no profiles are given",
        remedy=f"give them ({options}), or choose another of hypergraph.builders",
    )


def check_profiles(
    sources: tuple[Any, Any],
    networks: tuple[Network, Network],
    anchors: IntArray | None,
    config: Config,
    progress: Progress,
) -> dict[str, Any]:
    """What `kedge check` shows of profiles: `fields`, and `profile_notes`."""
    profiles = read_both(sources, networks, config, progress)
    pairs = np.empty((0, 2), np.int64) if anchors is None else anchors[(anchors >= 0).all(axis=1)]
    progress.stage("comparing profiles")
    facts = describe_fields(*profiles, pairs, config.profiles)
    notes = list(field_warnings(*profiles, facts, config.profiles))
    return {"fields": [asdict(fact) for fact in facts], "profile_notes": notes}
