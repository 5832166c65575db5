"""Bringing vectors into one space: the parts of a network (phase 1, Eq. 12), then two networks (phase 2, Eq. 11)."""

from kedge.reconcile.parts import PartVectors, Reconciled, lay_on_sketch, reconcile_parts
from kedge.reconcile.projection import RIDGES, Projection, choose_ridge, lay_over, project

__all__ = [
    "RIDGES",
    "PartVectors",
    "Projection",
    "Reconciled",
    "choose_ridge",
    "lay_on_sketch",
    "lay_over",
    "project",
    "reconcile_parts",
]
