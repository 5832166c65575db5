"""Bringing vectors into one space: the parts of a network (phase 1, Eq. 12), then two networks (phase 2, Eq. 11)."""

from kedge.reconcile.parts import PartVectors, Reconciled, reconcile_parts, refine_boundary, rotate_onto_sketch
from kedge.reconcile.projection import RIDGES, Projection, choose_ridge, project, project_onto

__all__ = [
    "RIDGES",
    "PartVectors",
    "Projection",
    "Reconciled",
    "choose_ridge",
    "project",
    "project_onto",
    "reconcile_parts",
    "refine_boundary",
    "rotate_onto_sketch",
]
