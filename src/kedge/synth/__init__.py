"""Synthetic data whose truth is known: the paper's sub-networks and planted social pairs.

Pure functions of their arguments and a seed: the same seed gives the same bytes. Nothing here imports torch.
"""

from kedge.synth.example import EXAMPLE_FILES, make_example, read_example
from kedge.synth.pair import Planted, anchor_table, edge_table, split
from kedge.synth.people import DIFFICULTIES, plant_profiles
from kedge.synth.sampling import expected_shares, subnetworks
from kedge.synth.social import planted
