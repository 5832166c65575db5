"""Every setting of kedge: one frozen model a stage, presets, TOML in and out.

A field's description is its documentation: `kedge config` prints it. Unknown keys are refused with the nearest
known one. A preset is a set of differences from the defaults.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kedge.errors import KedgeError

__all__ = [
    "PRESETS",
    "Config",
    "DecideConfig",
    "EvidenceConfig",
    "ReadConfig",
    "differences",
    "flatten",
    "resolve",
    "to_toml",
]


class Stage(BaseModel):
    """Settings of one stage: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ReadConfig(Stage):
    """How files are read."""

    delimiter: str = Field(default="auto", description="between columns: auto, or a character such as , ; | \\t")
    header: Literal["auto", "yes", "no"] = Field(default="auto", description="whether the first row names the columns")
    weights: Literal["auto", "yes", "no"] = Field(
        default="auto", description="whether a third column is the edge's weight"
    )
    contradictory: Literal["error", "drop"] = Field(
        default="error", description="what to do with anchors that give one account several partners"
    )


class DecideConfig(Stage):
    """How scores become probabilities and decisions."""

    assignment: Literal["optimal", "greedy", "many-to-one"] = Field(
        default="optimal",
        description="who gets whom: optimal or greedy one-to-one, or many-to-one (left accounts may share)",
    )
    holdout: float = Field(
        default=0.2, ge=0, le=0.5, description="share of the anchors hidden to estimate probabilities"
    )
    folds: int = Field(
        default=0, ge=0, description="runs with hidden anchors; 0: one, or up to 1/holdout where anchors are few"
    )
    precision: float = Field(
        default=0.9, gt=0, lt=1, description="share of right ones that decided matches are to have"
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="call a match from this probability on; not set: the least that gives precision",
    )
    floor: float = Field(
        default=0.5, ge=0, le=1, description="the least that the threshold may be when it is estimated"
    )
    review: float = Field(
        default=0.1, ge=0, le=1, description="assigned pairs from this probability up to the threshold go to review"
    )


class EvidenceConfig(Stage):
    """How evidence travels from matched accounts to their neighbours."""

    form: Literal["auto", "sparse", "dense"] = Field(
        default="auto", description="dense assumes that everybody has a partner; auto: what held-back anchors prefer"
    )
    rounds: int = Field(default=15, ge=1, description="how often beliefs are renewed")
    candidates: int = Field(default=10, ge=1, description="best candidates of an account heard in a round")
    keep: int = Field(default=50, ge=1, description="best candidates of each account in the result")
    first_temperature: float = Field(default=4.0, gt=0, description="temperature of the first round")
    temperature: float = Field(default=1.0, gt=0, description="divides log-odds before they become beliefs")
    work: float = Field(default=200.0, gt=0, description="pairs spoken to a round and edge before hubs fall silent")
    dense_cells: int = Field(default=2_000_000, ge=0, description="largest n1 x n2 where the dense form is tried too")
    least_belief: float = Field(default=0.01, gt=0, lt=1, description="smaller beliefs say nothing to neighbours")


class PartitionConfig(Stage):
    """How a large network is cut into parts (Algorithm 1)."""

    n_max: int = Field(default=15_000, ge=2, description="N_max: the most accounts that a part may have")
    n_min: int = Field(default=1_000, ge=1, description="N_min: parts with fewer accounts are merged into others")
    rounds: int = Field(default=10, ge=1, description="T: how often parts that are too large are split again")
    merge: Literal["edges", "paper"] = Field(
        default="edges",
        description="where small parts go: to the part with most edges to them, or (paper) to a random one",
    )
    shared: int = Field(default=1_000, ge=0, description="N: accounts that stand in every part")
    shared_by: Literal["bridges", "paper"] = Field(
        default="bridges",
        description="which accounts are shared: those that touch most parts, or (paper) the top degrees",
    )
    shared_edges: int = Field(
        default=16, ge=1, description="bridges: edges to other shared accounts that each keeps outside its own part"
    )
    anchors_first: bool = Field(default=False, description="take anchored accounts as shared ones first")
    reconcile: Literal["procrustes", "paper"] = Field(
        default="procrustes", description="how parts are laid over each other: by rotation, or by Eq. 12 as printed"
    )
    boundary_steps: int = Field(
        default=2, ge=0, description="how often accounts move towards their neighbours in other parts at the end"
    )


class EngineConfig(Stage):
    """Where the parts of a large network are trained."""

    name: Literal["serial", "processes", "dask"] = Field(
        default="processes", description="serial, processes (on this machine) or dask (on a cluster)"
    )
    workers: int = Field(default=0, ge=0, description="processes: how many; 0: one a core, or as many as memory allows")
    max_memory_mb: float = Field(default=0, ge=0, description="memory to stay within; 0: four fifths of what is free")
    address: str = Field(default="", description="dask: the scheduler, e.g. tcp://host:8786")
    timeout: float = Field(default=0, ge=0, description="seconds after which a job counts as hung; 0: never")
    retries: int = Field(default=2, ge=0, description="how often a job is run again whose worker died")


class HypergraphConfig(Stage):
    """How hyperedges are drawn from a network."""

    builders: str = Field(
        default="neighbourhood",
        pattern=r"^(neighbourhood|anchor|centrality|latent)(\+(neighbourhood|anchor|centrality|latent))*$",
        description="neighbourhood, anchor, centrality, latent, or several put side by side: neighbourhood+centrality",
    )
    nearest: int = Field(
        default=32,
        ge=0,
        description="accounts in the hyperedge around a centre, by random-walk probability; 0 takes all within hops",
    )
    hops: int = Field(default=10, ge=1, description="how far from its centre a hyperedge reaches (the paper's phi)")
    restart: float = Field(
        default=0.15, gt=0, lt=1, description="how likely the random walk returns to its centre at each step"
    )
    sharpness: float = Field(
        default=1.0, ge=0, le=1, description="memberships are walk probabilities to this power; 0 counts members alike"
    )
    front: int = Field(default=128, ge=1, description="accounts that a random walk carries on from at each step")
    max_entries: int = Field(
        default=200_000_000, ge=1, description="refuse a hypergraph with more memberships than this (8 bytes each)"
    )
    communities: int = Field(default=12, ge=0, description="one-hot communities of the centrality hypergraph")
    samples: int = Field(
        default=512, ge=1, description="accounts that betweenness and closeness are sampled from in larger networks"
    )
    codes: int = Field(default=200, ge=1, description="hyperedges of the latent hypergraph: the autoencoder's codes")
    active: int = Field(
        default=20, ge=0, description="strongest codes kept for each account; 0 keeps all, a full matrix"
    )
    latent_steps: int = Field(default=100, ge=0, description="training steps of the autoencoder")


class MgcnConfig(Stage):
    """How one network, or one part of it, is embedded (Eq. 1-10)."""

    dimensions: int = Field(default=128, ge=1, description="length of a vector (the paper's d)")
    layers: int = Field(default=1, ge=1, description="convolutions at each level (the paper's K)")
    levels: Literal["both", "simple", "hypergraph", "none"] = Field(
        default="both",
        description="what convolves: within hyperedges (simple), over the hypergraph, both, or none (X^0 itself)",
    )
    fusion: Literal["concat", "basis", "sum", "linear"] = Field(
        default="linear",
        description="how hyperedges are fused (Eq. 4): a block each, blocks of few bases, one block, or summed first",
    )
    bases: int = Field(default=4, ge=1, description="shared blocks of fusion = basis")
    share: bool = Field(
        default=True,
        description="scale each account's memberships to one total within hyperedges, however many it is in",
    )
    theta: Literal["edge", "paper"] = Field(
        default="edge",
        description="normalisation of the hypergraph level: by hyperedge size too, or as printed (Eq. 9)",
    )
    activation: Literal["none", "tanh", "relu"] = Field(default="none", description="what follows each convolution")
    skip: bool = Field(default=False, description="add each convolution's input to its output")
    transform: bool = Field(
        default=False, description="learn the matrices W and F; without them both levels only propagate"
    )
    identity: bool = Field(
        default=True, description="let learned matrices start near the identity instead of at random"
    )
    unit: bool = Field(
        default=True, description="unit vectors times one learned length, and a learned bias in the logit"
    )
    length: float = Field(default=3.0, gt=0, description="the squared length of unit vectors to start from")
    dropout: float = Field(
        default=0.5, ge=0, lt=1, description="share of the first vectors' entries that each training step leaves out"
    )
    drop_hyperedges: float = Field(
        default=0.5, ge=0, lt=1, description="share of hyperedges that each training step leaves out"
    )
    drop_output: float = Field(
        default=0.0, ge=0, lt=1, description="share of the last vectors' entries that each training step leaves out"
    )
    start: Literal["free", "autoencoder", "given"] = Field(
        default="free",
        description="the first vectors X^0: learned, learned from an autoencoder's codes, or given features",
    )
    weighing: Literal["mean", "paper"] = Field(
        default="mean",
        description="edges against noise in the objective: equal, or 1 : 2 negatives as printed (Eq. 10)",
    )
    negatives: int = Field(default=5, ge=1, description="noise accounts for each end of an edge (the paper's M)")
    pool: int = Field(default=512, ge=1, description="noise accounts drawn at each step for all edges together")
    learning_rate: float = Field(default=0.01, gt=0, description="Adam's step size")
    clip: float = Field(default=10.0, gt=0, description="longest gradient taken as it is; longer ones are shortened")
    steps: int = Field(default=300, ge=1, description="training steps at most")
    held_out: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="share of edges left out of training to tell when to stop; 0 takes all steps",
    )
    check_every: int = Field(default=10, ge=1, description="steps between two looks at the edges left out")
    patience: int = Field(default=8, ge=1, description="looks without a better one before training stops")
    refit: bool = Field(default=False, description="train again with all edges for the number of steps found")


class Config(Stage):
    """The resolved configuration of a run."""

    method: str = Field(default="evidence", description="what scores the pairs; a name from `kedge compare --list`")
    seed: int = Field(default=0, ge=0, lt=2**63, description="where all randomness starts")
    candidates: int = Field(default=10, ge=1, description="how many candidates to keep for each account")
    decide: DecideConfig = Field(default_factory=DecideConfig, description="how scores become decisions")
    engine: EngineConfig = Field(default_factory=EngineConfig, description="where parts are trained")
    partition: PartitionConfig = Field(default_factory=PartitionConfig, description="how large networks are cut")
    read: ReadConfig = Field(default_factory=ReadConfig, description="how files are read")
    mgcn: MgcnConfig = Field(default_factory=MgcnConfig, description="how a network is embedded")
    hypergraph: HypergraphConfig = Field(default_factory=HypergraphConfig, description="how hyperedges are drawn")
    evidence: EvidenceConfig = Field(default_factory=EvidenceConfig, description="how evidence travels between pairs")


PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    # The paper's settings, with the smallest changes that can be computed and that train (docs/mgcn.md): the 32 nearest
    # accounts within 10 hops instead of all of them, summation instead of a block for each account's hyperedge, edges
    # and noise weighed alike, and a skip connection around each layer.
    "paper": {
        "method": "mgcn",
        "partition": {"merge": "paper", "shared_by": "paper", "reconcile": "paper", "boundary_steps": 0},
        "hypergraph": {"nearest": 32, "hops": 10},
        "mgcn": {
            "dimensions": 200,
            "layers": 2,
            "fusion": "sum",
            "share": False,
            "theta": "paper",
            "activation": "relu",
            "skip": True,
            "transform": True,
            "identity": False,
            "unit": False,
            "dropout": 0.0,
            "drop_hyperedges": 0.0,
            "weighing": "mean",
            "negatives": 5,
            "learning_rate": 0.01,
        },
    },
}


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as `{"stage.field": value}`."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, leaf = path.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise KedgeError(f"setting {path!r}: {parent!r} is a value, not a group of settings")
        place[leaf] = value
    return nested


def _known() -> list[str]:
    return sorted(flatten(Config().model_dump()))


def _parse_assignment(text: str) -> tuple[str, Any]:
    """`a.b=c` with c read as a TOML value, or as plain text where it is none."""
    path, equals, raw = text.partition("=")
    if not equals or not path.strip():
        raise KedgeError(f"--set {text!r} is not of the form name=value", remedy="write e.g. --set read.header=no")
    try:
        value = tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        value = raw.strip()
    return path.strip(), value


def _load(path: Path) -> dict[str, Any]:
    try:
        return flatten(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        raise KedgeError("no such file", file=path, remedy="give the path of a TOML file") from None
    except IsADirectoryError:
        raise KedgeError("a directory, not a file", file=path, remedy="give the path of a TOML file") from None
    except PermissionError:
        raise KedgeError("may not be read", file=path, remedy="check its permissions") from None
    except UnicodeDecodeError:
        raise KedgeError("is not UTF-8 text", file=path, remedy="save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise KedgeError(f"is not valid TOML ({error})", file=path, remedy="see `kedge config` for the form") from None


def resolve(
    preset: str = "default",
    file: Path | None = None,
    assignments: Iterable[str] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration from preset, then file, then `--set`, then named options; the later wins."""
    if preset not in PRESETS:
        raise KedgeError(f"no preset {preset!r}", remedy=f"choose one of: {', '.join(PRESETS)}")
    flat = flatten(PRESETS[preset])
    origin = dict.fromkeys(flat, f"preset {preset}")
    layers = [] if file is None else [(str(file), _load(file))]
    layers += [(f"--set {text}", dict([_parse_assignment(text)])) for text in assignments]
    layers.append(("option", dict(overrides or {})))
    known = _known()
    for name, layer in layers:
        for path, value in layer.items():
            if path not in known:
                near = difflib.get_close_matches(path, known, n=1, cutoff=0.4)
                hint = f"did you mean {near[0]!r}?" if near else "see `kedge config` for the known ones"
                raise KedgeError(f"{name}: no setting {path!r}", remedy=hint)
            flat[path] = value
            origin[path] = name
    try:
        return Config.model_validate(_nest(flat))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise KedgeError(
            f"{origin.get(path, 'configuration')}: {path} = {first['input']!r} is refused: {first['msg'].lower()}",
            remedy="see `kedge config`",
        ) from None


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two dumped configurations, a line each: `name: old -> new`."""
    before, after = flatten(old), flatten(new)
    return [
        f"{key}: {before.get(key, '(absent)')} -> {after.get(key, '(absent)')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def to_toml(config: Stage, help_lines: bool = True) -> str:
    """The configuration as TOML, with a comment above each field that says what it does."""

    def write(model: BaseModel, table: str) -> list[str]:
        lines: list[str] = []
        nested: list[tuple[str, BaseModel]] = []
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, BaseModel):
                nested.append((name, value))
                continue
            if help_lines and info.description:
                lines.append(f"# {info.description}")
            if value is None:
                lines.append(f"# {name} is not set")
            else:
                # JSON's numbers, strings, booleans and lists are TOML's too.
                lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        for name, child in nested:
            path = f"{table}{name}"
            lines += ["", f"[{path}]", *write(child, f"{path}.")]
        return lines

    return "\n".join(write(config, "")) + "\n"
