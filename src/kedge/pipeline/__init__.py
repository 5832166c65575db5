"""The whole way from files to matches and back: the only room that names every stage."""

from kedge.pipeline.explaining import explain_pair
from kedge.pipeline.matching import calibrate, match, match_to_run
from kedge.pipeline.purging import Purged, purge
from kedge.pipeline.reading import (
    Contents,
    load_contents,
    load_decided,
    load_evidence,
    load_matches,
    load_mixture,
    load_run,
)
from kedge.pipeline.solution import Inputs, Solution, measure
from kedge.progress import Progress, Silent

__all__ = [
    "Contents",
    "Inputs",
    "Progress",
    "Purged",
    "Silent",
    "Solution",
    "calibrate",
    "explain_pair",
    "load_contents",
    "load_decided",
    "load_evidence",
    "load_matches",
    "load_mixture",
    "load_run",
    "match",
    "match_to_run",
    "measure",
    "purge",
]
