"""How good a result is: metrics, and where a run is right and where it is wrong."""

from kedge.evaluation.breakdowns import breakdown, by_degree, histogram, made_and_right, reliability
from kedge.evaluation.metrics import METRICS, Metric, calibration_error, metrics_shown
