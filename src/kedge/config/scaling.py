"""Settings of partitioning and of the engines that train parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from kedge.config.base import Stage

# Where parts are trained: `kedge.engine.NAME.make` for each, and one row of docs/scaling.md.
ENGINES: Final[Mapping[str, str]] = {
    "serial": "one part after the other, in this process",
    "processes": "several processes on this machine",
    "dask": "a Dask cluster",
}


class PartitionConfig(Stage):
    """How a large network is cut into parts (Algorithm 1)."""

    n_max: int = Field(default=15_000, ge=2, description="N_max: accounts per part at most")
    n_min: int = Field(default=1_000, ge=1, description="N_min: parts with fewer accounts are merged into others")
    rounds: int = Field(default=10, ge=1, description="T: how often parts that are too large are split again, at most")
    merge: Literal["edges", "paper"] = Field(
        default="edges",
        description="where a small part goes: to the part with most edges to it (edges), or to a random one (paper)",
    )
    shared: int = Field(
        default=1_000, ge=0, description="N: accounts that are in every part; border: halo accounts per part at most"
    )
    shared_by: Literal["border", "bridges", "paper"] = Field(
        default="border",
        description="what parts have in common: a sketch of the whole network and halo accounts, neighbours in other "
        "parts (border), or shared accounts: those with edges into most parts (bridges), the highest degrees (paper)",
    )
    shared_edges: int = Field(
        default=16, ge=1, description="bridges: edges to other shared accounts, per shared account outside its own part"
    )
    anchors_first: bool = Field(default=False, description="choose anchored accounts as shared or halo accounts first")
    reconcile: Literal["procrustes", "paper"] = Field(
        default="procrustes",
        description="how the parts' vectors are brought into one space: by rotation, or by Eq. 12 as printed",
    )
    sketch_steps: int = Field(default=8, ge=0, description="border: smoothing steps of the sketch over the network")
    sketch_length: float = Field(
        default=8.0, gt=0, description="border: length of a part's first vectors; longer ones move less in training"
    )
    learned_weight: float = Field(
        default=0.3,
        ge=0,
        description="border: weight of the d learned columns, concatenated with the d columns of the sketch; 0: "
        "learned columns alone",
    )
    boundary_steps: int = Field(
        default=8, ge=0, description="final steps that move accounts towards their neighbours in other parts"
    )


class EngineConfig(Stage):
    """Where the parts of a large network are trained."""

    name: str = Field(
        default="processes",
        pattern=f"^({'|'.join(ENGINES)})$",
        description="; ".join(f"{name}: {about}" for name, about in ENGINES.items()),
    )
    workers: int = Field(
        default=0, ge=0, description="processes: number of workers; 0: one per core, or as many as fit into memory"
    )
    max_memory_mb: float = Field(
        default=0, ge=0, description="memory limit in MB; 0: four fifths of the available memory"
    )
    address: str = Field(default="", description="dask: address of the scheduler, e.g. tcp://host:8786")
    timeout: float = Field(default=0, ge=0, description="seconds until a job counts as hung; 0: never")
    retries: int = Field(default=2, ge=0, description="how often a job is run again after its worker died")
