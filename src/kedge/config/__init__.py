"""Every setting of kedge: one frozen model for each stage, presets, TOML in and out.

A field's description is its documentation: `kedge config` prints it.
"""

from kedge.config.baselines import BaselineConfig
from kedge.config.config import Config
from kedge.config.decide import DecideConfig
from kedge.config.embedding import HYPERGRAPHS, HypergraphConfig, MgcnConfig
from kedge.config.evidence import EvidenceConfig
from kedge.config.pairing import PairingConfig
from kedge.config.presets import PRESETS
from kedge.config.read import ReadConfig
from kedge.config.resolve import differences, flatten, nest, resolve, stored_config, to_toml
from kedge.config.scaling import ENGINES, EngineConfig, PartitionConfig

__all__ = [
    "ENGINES",
    "HYPERGRAPHS",
    "PRESETS",
    "BaselineConfig",
    "Config",
    "DecideConfig",
    "EngineConfig",
    "EvidenceConfig",
    "HypergraphConfig",
    "MgcnConfig",
    "PairingConfig",
    "PartitionConfig",
    "ReadConfig",
    "differences",
    "flatten",
    "nest",
    "resolve",
    "stored_config",
    "to_toml",
]
