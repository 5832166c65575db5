"""Does the queue's order help? A reviewer who knows the truth answers in our order, at random, or by uncertainty alone.

DALAUP's question (Cheng et al., IJCAI 2019) for our review app: after every batch of answers the networks are matched
again with what was learnt. A yes confirms the pair; a no rejects it, unless the true partner is among the shown
candidates: then that one is picked, as in the app. Printed: the share of all test pairs that are known or assigned
rightly, and the same among the accounts that no order ever asked about, where only the spread of evidence can help.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from kedge.config import Config
from kedge.decide.decisions import decide
from kedge.evaluation.metrics import calibration_error
from kedge.methods import METHODS
from kedge.probability.calibration import calibrate
from kedge.review.order import SHOWN, information_order
from kedge.synthetic import planted
from kedge.types import IntArray, Matches, Network, Problem

Order = Callable[[Problem, Matches, np.random.Generator], IntArray]


def by_information(problem: Problem, matches: Matches, _rng: np.random.Generator) -> IntArray:
    return information_order(problem, matches)[0]


def by_uncertainty(_problem: Problem, matches: Matches, _rng: np.random.Generator) -> IntArray:
    """The entropy of the assigned pair, however many other candidates there are: what one would try first."""
    rows = np.flatnonzero(matches.assigned)
    p = np.clip(matches.probability[rows].astype(np.float64), 1e-12, 1 - 1e-12)
    return rows[np.argsort(p * np.log(p) + (1 - p) * np.log(1 - p), kind="stable")]


def by_chance(_problem: Problem, matches: Matches, rng: np.random.Generator) -> IntArray:
    return rng.permutation(np.flatnonzero(matches.assigned))


ORDERS: dict[str, Order] = {"information": by_information, "uncertainty": by_uncertainty, "random": by_chance}


def match(problem: Problem, config: Config, given: int) -> Matches:
    # Two folds where kedge would take five: every order matches again after every batch.
    evidence = METHODS["evidence"]
    twice = config.model_copy(update={"decide": config.decide.model_copy(update={"folds": 2})})
    calibrator = calibrate(problem, lambda fewer: evidence.align(fewer, config), twice, given)
    return decide(problem, evidence.align(problem, config), calibrator, config)


def answers(problem: Problem, matches: Matches, rows: IntArray, truth: IntArray) -> Problem:
    """The problem after the reviewer has answered about these rows."""
    confirmed, rejected = [], []
    taken = set(problem.anchors[:, 1].tolist())
    for row in rows.tolist():
        u, v = int(matches.left[row]), int(matches.right[row])
        shown = matches.right[(matches.left == u) & (matches.rank <= SHOWN)]
        if truth[u] == v or truth[u] in shown:
            if int(truth[u]) not in taken:
                confirmed.append((u, int(truth[u])))
                taken.add(int(truth[u]))
        else:
            rejected.append((u, v))
    pairs = [np.array(p, np.int64).reshape(-1, 2) for p in (confirmed, rejected)]
    return Problem(
        problem.left,
        problem.right,
        np.concatenate([problem.anchors, pairs[0]]),
        np.concatenate([problem.rejected, pairs[1]]),
    )


def share(problem: Problem, matches: Matches, test: IntArray, wanted: np.ndarray) -> float:
    """Of the wanted test pairs, how many are anchors or assigned."""
    partner = np.full(problem.left.n, -1)
    partner[matches.left[matches.assigned]] = matches.right[matches.assigned]
    partner[problem.anchors[:, 0]] = problem.anchors[:, 1]
    return float((partner[test[:, 0]] == test[:, 1])[wanted].mean())


def open_error(matches: Matches, truth: IntArray) -> float:
    """ECE of the assigned pairs that are still open: whether answers spoil the probabilities."""
    rows = np.flatnonzero(matches.assigned)
    found = calibration_error(matches.probability[rows], truth[matches.left[rows]] == matches.right[rows])
    return float("nan") if found is None else found


def simulate(seed: int, nodes: int, steps: list[int]) -> dict[str, list[tuple[float, float, float]]]:
    made = planted(nodes, nodes, int(0.75 * nodes), 5 * nodes, 5 * nodes, 0.7, seed)
    rng = np.random.default_rng(seed)
    pairs = made.anchors[rng.permutation(len(made.anchors))]
    train, test = pairs[: len(pairs) // 10], pairs[len(pairs) // 10 :]
    truth = np.full(nodes, -1)
    truth[pairs[:, 0]] = pairs[:, 1]
    left, right = (Network(network.adjacency, network.ids) for network in (made.left, made.right))
    start = Problem(left, right, train)
    config = METHODS["evidence"].choose_settings(start, Config(seed=seed)).model_copy(update={"seed": 0})
    first = match(start, config, len(train))
    states, asked = {}, np.zeros(nodes, bool)
    for name, order in ORDERS.items():
        problem, matches = start, first
        states[name] = [(problem, matches)]
        for before, after in pairwise(steps):
            rows = order(problem, matches, rng)[: after - before]
            asked[matches.left[rows]] = True
            asked[[u for u in range(nodes) if truth[u] in set(matches.right[rows].tolist())]] = True
            problem = answers(problem, matches, rows, truth)
            asked[problem.anchors[:, 0]] = True
            matches = match(problem, config, len(train))
            states[name].append((problem, matches))
    never = ~asked[test[:, 0]]
    every = np.ones(len(test), bool)
    return {
        name: [(share(p, m, test, every), share(p, m, test, never), open_error(m, truth)) for p, m in reached]
        for name, reached in states.items()
    }


def draw(path: Path, steps: list[int], mean: dict[str, np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), sharex=True)
    titles = ("all test pairs", "accounts that no order asked about")
    for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        for (name, rows), line in zip(mean.items(), ("o-", "s--", "^:"), strict=True):
            panel.plot(steps, rows[:, place], line, label=name)
        panel.set(title=title, xlabel="answers of the reviewer", ylabel="share right")
        panel.grid(alpha=0.3)
    panels[0].legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    print(f"drawn in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=600)
    parser.add_argument("--steps", type=int, nargs="+", default=[0, 60, 150, 300])
    parser.add_argument("--seeds", type=int, default=3)
    # The form of the order was chosen on seeds 0 to 4, so the table must come from others.
    parser.add_argument("--first-seed", type=int, default=10)
    parser.add_argument("--plot", type=Path, default=Path("bench-out/review_order.png"))
    asked = parser.parse_args()
    runs = [
        simulate(seed, asked.nodes, asked.steps) for seed in range(asked.first_seed, asked.first_seed + asked.seeds)
    ]
    mean = {name: np.mean([run[name] for run in runs], axis=0) for name in ORDERS}
    spread = {name: np.std([run[name] for run in runs], axis=0) for name in ORDERS}
    print(f"{asked.nodes} accounts a side, {asked.seeds} seeds; share right of all (± deviation) | never asked | ECE")
    print("answers  " + "".join(f"{name:>30}" for name in ORDERS))
    for i, step in enumerate(asked.steps):
        cells = [
            f"{mean[n][i, 0]:.3f} ± {spread[n][i, 0]:.3f} | {mean[n][i, 1]:.3f} | {mean[n][i, 2]:.3f}" for n in ORDERS
        ]
        print(f"{step:7}  " + "".join(f"{cell:>30}" for cell in cells))
    ours, blind = next(iter(ORDERS)), list(ORDERS)[-1]
    needed = np.interp(mean[blind][-1, 0], mean[ours][:, 0], asked.steps)
    print(f"what {blind} reaches with {asked.steps[-1]} answers, {ours} has with {needed:.0f} (interpolated)")
    draw(asked.plot, asked.steps, mean)


if __name__ == "__main__":
    main()
