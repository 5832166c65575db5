"""What a score is worth: signals, calibration, and the share of accounts without a counterpart."""

from kedge.probability.calibration import Calibrator, calibrate, calibrate_on
from kedge.probability.candidates import Shortlist, margins, shortlist
from kedge.probability.earlier import EarlierCalibrator
from kedge.probability.folds import Fold, count_folds, count_parts, run_folds
from kedge.probability.suspects import find_suspects

AnyCalibrator = Calibrator | EarlierCalibrator
