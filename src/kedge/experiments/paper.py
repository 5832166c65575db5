"""The paper's experiments as data: points on an axis, methods, shares of anchors, and the figures that it prints."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from kedge.errors import KedgeError, did_you_mean
from kedge.evaluation import metrics_shown
from kedge.experiments.cells import Shares

HALF: Final = Shares(0.5, 0.5)
MACRO: Final = tuple(metric.name for metric in metrics_shown("paper"))


@dataclass(frozen=True)
class Variant:
    """A method under the name that the tables give it; `settings` are `name=value`, on top of the preset's."""

    label: str
    method: str
    preset: str = "default"
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Point:
    """A place on an experiment's axis: a cut (alpha_s, alpha_c) of the source network, or a named pair."""

    label: str
    x: float
    alphas: tuple[float, float] = (1.0, 1.0)
    pair: str | None = None
    shares: Shares = HALF
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """What the paper varies, and which methods it compares; `quick` names the points of the short form."""

    name: str
    title: str
    axis: str
    points: tuple[Point, ...]
    variants: tuple[Variant, ...]
    quick: tuple[str, ...]
    note: str = ""


# Each draw of validation anchors trains an embedding again; one draw of a fifth is enough for a rule of few weights.
_ONE_DRAW: Final = ("decide.folds=1",)
KEDGE: Final = Variant("kedge", "kedge")
MGCN: Final = Variant("MGCN", "mgcn", "paper", _ONE_DRAW)
MGCN_HERE: Final = Variant("MGCN (kedge)", "mgcn", settings=_ONE_DRAW)
AUTOENCODER: Final = Variant("Autoencoder", "autoencoder", settings=_ONE_DRAW)
GCN: Final = Variant("GCN", "gcn", settings=_ONE_DRAW)
HGNN: Final = Variant("HGNN", "hgnn", settings=_ONE_DRAW)
PALE: Final = Variant("PALE", "pale", settings=_ONE_DRAW)
DEEPWALK: Final = Variant("DeepWalk", "deepwalk", settings=_ONE_DRAW)
MAH: Final = Variant("MAH", "mah", settings=_ONE_DRAW)

_STEPS: Final = tuple(range(10, 100, 10))
_ROBUST: Final = (KEDGE, MGCN, MGCN_HERE, AUTOENCODER, GCN, HGNN, PALE)
_ENDS: Final = ("10 %", "50 %", "90 %")

SIZES: Final = (1_000, 2_000, 4_000, 8_000, 16_000)  # accounts of the efficiency experiment

EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    one.name: one
    for one in (
        Experiment(
            "main",
            "Anchor link prediction on two cross-platform pairs",
            "pair",
            (
                Point("foursquare-twitter", 0, pair="foursquare-twitter"),
                Point("douban-weibo-dana", 1, pair="douban-weibo-dana"),
            ),
            (*_ROBUST, DEEPWALK, MAH),
            ("foursquare-twitter",),
            "The paper's Facebook-Twitter and Douban-Weibo cannot be had; these are public pairs of the same kind.",
        ),
        Experiment(
            "anchors",
            "Share of observed anchors",
            "observed anchors",
            tuple(Point(f"{i} %", i / 100, (0.9, 0.9), shares=Shares(i / 100, 0.1)) for i in _STEPS),
            _ROBUST,
            _ENDS,
            "One tenth of the anchors is held out; alpha_s = alpha_c = 0.9.",
        ),
        Experiment(
            "sparsity",
            "Sparsity level",
            "sparsity level alpha_s",
            tuple(Point(f"{i} %", i / 100, (i / 100, 0.6)) for i in _STEPS),
            _ROBUST,
            _ENDS,
            "alpha_c = 0.6.",
        ),
        Experiment(
            "overlap",
            "Overlap level",
            "overlap level alpha_c",
            tuple(Point(f"{i} %", i / 100, (0.6, i / 100)) for i in _STEPS),
            _ROBUST,
            _ENDS,
            "alpha_s = 0.6.",
        ),
        Experiment(
            "hypergraphs",
            "How hypergraphs are built",
            "hypergraph",
            tuple(
                Point(name, i, (0.3, 0.3), settings=(f"hypergraph.builders={name}",))
                for i, name in enumerate(("neighbourhood", "anchor", "centrality", "latent"))
            ),
            (MGCN, MGCN_HERE),
            ("neighbourhood", "centrality"),
            "alpha_s = alpha_c = 0.3.",
        ),
        Experiment(
            "efficiency",
            "Forward time over network size",
            "accounts",
            tuple(Point(f"{size:,}", size) for size in SIZES),
            (Variant("GCN", "gcn"), Variant("HGNN", "hgnn"), Variant("MGCN", "mgcn")),
            tuple(f"{size:,}" for size in SIZES[:3]),
            "CPU seconds of 1,000 forward passes on one thread; d = 200, K = 2.",
        ),
    )
}


@cache
def published() -> Mapping[str, Any]:
    """What the paper prints, by experiment."""
    text = resources.files("kedge.experiments").joinpath("published.toml").read_text("utf-8")
    return tomllib.loads(text)


def find_experiment(name: str | None) -> Experiment:
    """The experiment of this name, or one line with the nearest or all names."""
    if name is not None and name in EXPERIMENTS:
        return EXPERIMENTS[name]
    remedy = did_you_mean(name or "", EXPERIMENTS, f"choose one of: {', '.join(EXPERIMENTS)}")
    raise KedgeError("which experiment?" if name is None else f"no experiment {name!r}", remedy=remedy)


def choose_variants(experiment: Experiment, methods: str | None) -> tuple[Variant, ...]:
    """The experiment's methods, or those of them that are named, by label or by method and preset."""
    if methods is None:
        return experiment.variants
    words = [word.strip().lower() for word in methods.split(",")]
    known: dict[str, Variant] = {}
    for variant in experiment.variants:
        preset = "" if variant.preset == "default" else f":{variant.preset}"
        known |= {variant.label.lower(): variant, f"{variant.method}{preset}": variant}
    for word in words:
        if word not in known:
            names = ", ".join(key for key, v in known.items() if key != v.label.lower())
            remedy = did_you_mean(word, known, f"choose from: {names}")
            raise KedgeError(f"no method {word!r} in {experiment.name}", remedy=remedy)
    chosen = [known[word] for word in words]
    return tuple(variant for variant in experiment.variants if variant in chosen)


def choose_points(experiment: Experiment, points: str | None) -> tuple[str, ...] | None:
    """The labels of the named points; the per cent sign and commas in numbers are optional."""
    if points is None:
        return None

    def bare(text: str) -> str:
        return text.removesuffix("%").strip().replace(",", "").lower()

    known = {bare(point.label): point.label for point in experiment.points}
    found = []
    for word in map(bare, points.split(",")):
        if word not in known:
            raise KedgeError(f"no point {word!r} in {experiment.name}", remedy=f"choose from: {', '.join(known)}")
        found.append(known[word])
    return tuple(found)
