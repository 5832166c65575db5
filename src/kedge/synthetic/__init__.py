"""Synthetic data whose truth is known: the paper's sub-networks and planted social pairs.

Pure functions of their arguments and a seed: the same seed gives the same bytes. Nothing here imports torch.
"""

from kedge.synthetic.example import EXAMPLE_FILES, make_example, read_example
from kedge.synthetic.pair import Planted, anchor_table, edge_table, split
from kedge.synthetic.people import DIFFICULTIES, plant_profiles
from kedge.synthetic.sampling import expected_shares, subnetworks
from kedge.synthetic.social import planted
