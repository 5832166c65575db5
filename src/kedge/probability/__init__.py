"""What a score is worth: signals, calibration, and the share of accounts without a counterpart."""

from kedge.probability.calibration import Calibrator, calibrate, count_folds
from kedge.probability.candidates import margins, shortlist
