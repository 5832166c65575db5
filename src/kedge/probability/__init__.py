"""What a score is worth: signals, calibration, and the share of accounts without a counterpart."""

from kedge.probability.calibration import Calibrator, calibrate
from kedge.probability.candidates import Shortlist, margins, shortlist
from kedge.probability.earlier import EarlierCalibrator
from kedge.probability.folds import count_folds

AnyCalibrator = Calibrator | EarlierCalibrator
