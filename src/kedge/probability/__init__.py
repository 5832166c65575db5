"""What a score is worth: signals, calibration, and the share of accounts without a counterpart."""

from kedge.probability.calibration import Calibrator, calibrate, calibrate_on, count_folds, run_folds
from kedge.probability.candidates import margins, shortlist
from kedge.probability.suspects import find_suspects
