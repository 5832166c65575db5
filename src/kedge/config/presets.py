"""Presets: sets of differences from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    # The paper's settings, with the smallest changes that can be computed and that train (docs/mgcn.md): the 32 nearest
    # accounts within 10 hops instead of all of them, summation instead of a block for each account's hyperedge, edges
    # and noise weighed alike, and a skip connection around each layer.
    "paper": {
        "method": "mgcn",
        "partition": {"merge": "paper", "shared_by": "paper", "reconcile": "paper", "boundary_steps": 0},
        "hypergraph": {"nearest": 32, "hops": 10, "sharpness": 1.0},
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
        # Section 2.6: a fully connected network sees the two vectors one after the other. It decides yes or no for
        # single pairs, which is all that the paper does; candidates are in the order that validation anchors prefer.
        "pairing": {"form": "concat"},
    },
}
