"""Settings of partitioning and of the engines that train parts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kedge.config.stage import Stage

__all__ = ["EngineConfig", "PartitionConfig"]


class PartitionConfig(Stage):
    """How a large network is cut into parts (Algorithm 1)."""

    n_max: int = Field(default=15_000, ge=2, description="N_max: the most accounts that a part may have")
    n_min: int = Field(default=1_000, ge=1, description="N_min: parts with fewer accounts are merged into others")
    rounds: int = Field(default=10, ge=1, description="T: how often parts that are too large are split again")
    merge: Literal["edges", "paper"] = Field(
        default="edges",
        description="where small parts go: to the part with most edges to them, or (paper) to a random one",
    )
    shared: int = Field(
        default=1_000, ge=0, description="N: accounts that stand in every part; border: guests of a part at most"
    )
    shared_by: Literal["border", "bridges", "paper"] = Field(
        default="border",
        description="what parts have in common: a sketch of the whole network and their neighbours as guests (border), "
        "or shared accounts: those that touch most parts (bridges), the top degrees (paper)",
    )
    shared_edges: int = Field(
        default=16, ge=1, description="bridges: edges to other shared accounts that each keeps outside its own part"
    )
    anchors_first: bool = Field(default=False, description="take anchored accounts as shared ones or guests first")
    reconcile: Literal["procrustes", "paper"] = Field(
        default="procrustes",
        description="how parts are laid over each other: by rotation, or by Eq. 12 as printed",
    )
    sketch_steps: int = Field(default=8, ge=0, description="border: how often the sketch is smoothed over the network")
    sketch_length: float = Field(
        default=8.0, gt=0, description="border: how long a part's first vectors are; the longer, the less they move"
    )
    beside: float = Field(
        default=0.3,
        ge=0,
        description="border: weight of the d columns learnt in a part beside the sketch's d; 0 leaves out the sketch's",
    )
    boundary_steps: int = Field(
        default=8, ge=0, description="how often accounts move towards their neighbours in other parts at the end"
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
