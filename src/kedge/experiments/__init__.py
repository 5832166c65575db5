"""Methods compared, and the paper's experiments run: cells in processes of their own, saved as files, then averaged."""

from kedge.experiments.cells import Pair, Shares, as_file, data_root, read_folder
from kedge.experiments.compare import (
    Comparison,
    Overrides,
    Plan,
    check_plan,
    compare_methods,
    compared_rows,
    parse_methods,
)
from kedge.experiments.pages import PRINTED, metric_rows, write_comparison, write_experiment, write_files
from kedge.experiments.paper import EXPERIMENTS, choose_points, choose_variants, find_experiment, published
from kedge.experiments.plots import FORMATS, draw_comparison
from kedge.experiments.reproduce import Asked, Reproduced, run_experiment
from kedge.experiments.request import (
    add_profiles,
    ask_experiment,
    check_picture,
    check_seeds,
    check_workers,
    find_pair,
    find_shares,
)
from kedge.experiments.run import Execution, count_cells
from kedge.experiments.tables import label_of
