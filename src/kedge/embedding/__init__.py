"""Vectors of networks of any size: whole where one part is enough, else by parts that are laid together (Eq. 12)."""

from kedge.embedding.boundary import refine_boundary
from kedge.embedding.network import NetworkVectors, Source, embed_network, embed_networks, recall_networks
from kedge.embedding.part import PartFit, PartJob, train_part
from kedge.embedding.sketched import recall_sketches, sketch_both

__all__ = [
    "NetworkVectors",
    "PartFit",
    "PartJob",
    "Source",
    "embed_network",
    "embed_networks",
    "recall_networks",
    "recall_sketches",
    "refine_boundary",
    "sketch_both",
    "train_part",
]
