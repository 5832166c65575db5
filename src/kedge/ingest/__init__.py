"""Networks and pairs in: any reasonable file or object, and a clear answer to any unreasonable one."""

from kedge.ingest.anchors import AnchorReport, build_problem, resolve_pairs, resolve_test
from kedge.ingest.answers import read_answers
from kedge.ingest.build import EdgeReport
from kedge.ingest.checks import (
    FEWEST_EDGES,
    SAME_NETWORK,
    check,
    edges_among,
    estimate_cost,
    hub_warning,
    misfit_warning,
)
from kedge.ingest.copies import Copy, copy_pairs, copy_profiles, join_map, read_map, reverse_copy, write_copy
from kedge.ingest.formulas import guard_table, guard_text, write_delimited
from kedge.ingest.profiles import ProfileReport, read_profiles
from kedge.ingest.pseudonyms import FORMS, form_of
from kedge.ingest.read import read_hypergraph, read_network, read_pairs
from kedge.ingest.sources import hold_pipe, split_table
