"""Every setting of kedge: one frozen model a stage, presets, TOML in and out.

A field's description is its documentation: `kedge config` prints it.
"""

from kedge.config.baselines import BaselineConfig
from kedge.config.deciding import DecideConfig
from kedge.config.embedding import HypergraphConfig, MgcnConfig
from kedge.config.evidence import EvidenceConfig
from kedge.config.pairing import PairingConfig
from kedge.config.presets import PRESETS
from kedge.config.reading import ReadConfig
from kedge.config.resolve import differences, flatten, resolve
from kedge.config.scaling import EngineConfig, PartitionConfig
from kedge.config.toml import to_toml
from kedge.config.whole import Config

__all__ = [
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
    "resolve",
    "to_toml",
]
