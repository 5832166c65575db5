"""The settings of all stages together: presets, and settings that had other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from kedge.config.matching import BaselineConfig, DecideConfig, EvidenceConfig, PairingConfig, ProfileConfig
from kedge.config.networks import (
    EngineConfig,
    HypergraphConfig,
    MgcnConfig,
    PartitionConfig,
    ReadConfig,
    SharedConfig,
    Stage,
)


class Config(Stage):
    """The resolved configuration of a run."""

    method: str = Field(default="kedge", description="the method that scores pairs: a name from `kedge compare --list`")
    seed: int = Field(default=0, ge=0, lt=2**63, description="seed of all random numbers")
    candidates: int = Field(default=10, ge=1, le=10_000, description="best candidates saved for each account")
    decide: DecideConfig = Field(default_factory=DecideConfig, description="how scores become decisions")
    engine: EngineConfig = Field(default_factory=EngineConfig, description="where parts are trained")
    partition: PartitionConfig = Field(default_factory=PartitionConfig, description="how large networks are cut")
    read: ReadConfig = Field(default_factory=ReadConfig, description="how files are read")
    mgcn: MgcnConfig = Field(default_factory=MgcnConfig, description="how a network is embedded")
    shared: SharedConfig = Field(default_factory=SharedConfig, description="how MGCN places two networks in one space")
    hypergraph: HypergraphConfig = Field(default_factory=HypergraphConfig, description="how hyperedges are drawn")
    evidence: EvidenceConfig = Field(
        default_factory=EvidenceConfig, description="how evidence is propagated between pairs"
    )
    baselines: BaselineConfig = Field(
        default_factory=BaselineConfig, description="settings of the methods of the related work"
    )
    pairing: PairingConfig = Field(
        default_factory=PairingConfig, description="how two vectors become a pair's log-odds"
    )
    profiles: ProfileConfig = Field(default_factory=ProfileConfig, description="how profiles are compared")

    def identity(self) -> dict[str, Any]:
        """What decides the result: all but where the work is done, and in how much memory."""
        return self.model_dump(mode="json", exclude={"engine": True, "read": {"max_memory_mb"}})


PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    # The paper's settings, with the smallest changes that can be computed and that train (docs/mgcn.md): the 32 nearest
    # accounts within 10 hops instead of all of them, summation instead of a block for each account's hyperedge, edges
    # and noise weighed alike, and a skip connection around each layer.
    "paper": {
        "method": "mgcn",
        "partition": {"merge": "paper", "shared_by": "paper", "reconcile": "paper", "boundary_steps": 0},
        "hypergraph": {"nearest": 32, "hops": 10, "sharpness": 1.0, "active": 0},
        "mgcn": {
            "space": "projected",
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
            "drop_edges": 0.0,
            "drop_hyperedges": 0.0,
            "gate": "fixed",
            "blend": 1.0,
            "weighing": "mean",
            "negatives": 5,
            "learning_rate": 0.01,
            "steps": 300,
            "patience": 8,
            "release": 0,
        },
        # Section 2.6: a fully connected network sees the two vectors one after the other, learns from one random false
        # pair for each anchor, orders the candidates and decides. Its width and step size are not in the paper.
        "pairing": {
            "form": "concat",
            "score": "network",
            "decides": "network",
            "negatives": 1,
            "hard": 0.0,
            "hidden": 128,
            "learning_rate": 0.003,
        },
    },
}

# Old name -> new name; None: the setting is gone.
RENAMED: Final[Mapping[str, str | None]] = {
    "decide.confidence": None,
    "pairing.turns": "pairing.refinements",
    "pairing.held_out": None,
    "partition.beside": "partition.learned_weight",
}
# What a method of an earlier version did, where it has stored no value.
FORMER: Final[Mapping[str, Mapping[str, Any]]] = {"mgcn": {"mgcn.space": "projected"}}
# Values that had other names, by the setting's present name.
VALUES: Final[Mapping[str, Mapping[Any, Any]]] = {"pairing.score": {"nearness": "similarity"}}


def rename_settings(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings of an earlier version under today's names and values."""
    renamed = {RENAMED.get(path, path): value for path, value in flat.items()}
    return {path: VALUES.get(path, {}).get(value, value) if isinstance(value, str) else value
            for path, value in renamed.items() if path is not None}  # fmt: skip
