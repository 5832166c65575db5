"""Every setting of kedge: one frozen model for each stage, presets, TOML in and out.

A field's description is its documentation: `kedge config` prints it.
"""

from kedge.config.config import PRESETS, Config
from kedge.config.matching import (
    BaselineConfig,
    DecideConfig,
    EvidenceConfig,
    PairingConfig,
    ProfileConfig,
    checked_share,
    share_range,
)
from kedge.config.networks import (
    AUTO,
    ENGINES,
    HYPERGRAPHS,
    SIZES,
    EngineConfig,
    HypergraphConfig,
    MgcnConfig,
    PartitionConfig,
    ReadConfig,
    SharedConfig,
)
from kedge.config.resolve import differences, flatten, nest, resolve, stored_config, to_toml
