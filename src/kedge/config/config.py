"""The settings of all stages together."""

from __future__ import annotations

from pydantic import Field

from kedge.config.base import Stage
from kedge.config.baselines import BaselineConfig
from kedge.config.decide import DecideConfig
from kedge.config.embedding import HypergraphConfig, MgcnConfig
from kedge.config.evidence import EvidenceConfig
from kedge.config.pairing import PairingConfig
from kedge.config.read import ReadConfig
from kedge.config.scaling import EngineConfig, PartitionConfig


class Config(Stage):
    """The resolved configuration of a run."""

    method: str = Field(default="kedge", description="the method that scores pairs: a name from `kedge compare --list`")
    seed: int = Field(default=0, ge=0, lt=2**63, description="seed of all random numbers")
    candidates: int = Field(default=10, ge=1, description="best candidates saved for each account")
    decide: DecideConfig = Field(default_factory=DecideConfig, description="how scores become decisions")
    engine: EngineConfig = Field(default_factory=EngineConfig, description="where parts are trained")
    partition: PartitionConfig = Field(default_factory=PartitionConfig, description="how large networks are cut")
    read: ReadConfig = Field(default_factory=ReadConfig, description="how files are read")
    mgcn: MgcnConfig = Field(default_factory=MgcnConfig, description="how a network is embedded")
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
