"""Doubtful anchors, found without a whole match and listed by the users' ids."""

from __future__ import annotations

import pyarrow as pa

from kedge.config import Config
from kedge.context import Progress, RunContext, one_blas_thread
from kedge.methods import find_method
from kedge.pipeline.inputs import Inputs, read_problem
from kedge.pipeline.solve import hold_out
from kedge.probability import find_suspects
from kedge.types import IntArray, Network, Problem, Suspects


@one_blas_thread()
def examine_anchors(inputs: Inputs, config: Config, progress: Progress) -> tuple[Problem, Suspects]:
    """The problem and its suspects, by the runs that a match of it calibrates on."""
    problem = read_problem(inputs, config, progress)
    method, context = find_method(config.method), RunContext(progress=progress)
    progress.stage("examining the anchors")
    resolved = method.choose_settings(problem, config, context)
    return problem, find_suspects(problem, hold_out(problem, resolved, method, context))


def suspect_table(problem: Problem, suspects: Suspects) -> pa.Table:
    """One row for each suspect, by the users' ids: the anchor, P(wrong), and the best candidates of its accounts."""

    def names(network: Network, accounts: IntArray) -> pa.Array:
        return network.ids.take(pa.array(accounts, mask=accounts < 0)).cast(pa.large_string())

    return pa.table(
        {
            "left": names(problem.left, suspects.pairs[:, 0]),
            "right": names(problem.right, suspects.pairs[:, 1]),
            "wrong": pa.array(suspects.wrong, pa.float64()),
            "better_right": names(problem.right, suspects.better[:, 0]),
            "better_left": names(problem.left, suspects.better[:, 1]),
        }
    )
