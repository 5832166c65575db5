"""What 40 answers of an audit are worth, where the truth about all accounts is known.

    python benchmarks/audit.py [--draws 100] [--answers 40] [--only NAME]

Matched by evidence alone: three research pairs, copies of real networks that lost accounts and edges, planted pairs.
A reviewer who knows the truth answers the sample, once per draw. `covers`: how often the 90 % interval of the precision
has the truth in it, of the matches that the sample was drawn from and of those decided with the answers. `error`: the
estimate less the truth, in the mean; not 0 where the same answers chose the threshold. `kept`: how
often matches are right at least as often as asked for, less 0.02. `recall` is divided by the oracle's: the best recall
that any threshold on the same order of pairs has at the precision asked for; above 1, precision was paid for it.
With KEDGE_KEEP=1 the figures are written to docs/results/audit.json, and the table of docs/audit.md is made of them.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from copies import partial_copies
from shared_pairs import ROOT, load

from kedge.answers.audit import draw
from kedge.config import Config
from kedge.decide.audited import decide_audited
from kedge.ingest import read_network
from kedge.pipeline import MemoryRun, solve
from kedge.synthetic import planted
from kedge.types import BoolArray, IntArray, Matches, Problem

RESEARCH = ("facebook-twitter-small", "cora", "douban")
# shares of the accounts kept and of the edges lost on either side, and of the anchors given
COPIES = (
    ("gemsec-fb-tvshow", 0.9, 0.1, 0.2),
    ("gemsec-fb-politician", 0.8, 0.1, 0.2),
    ("gemsec-fb-politician", 0.6, 0.05, 0.3),
    ("ego-facebook", 0.7, 0.2, 0.1),
)
# accounts with a counterpart, of 1,500 on either side, share of common edges, share of the anchors given
PLANTED = ((1000, 0.8, 0.2), (600, 0.7, 0.3), (1400, 0.6, 0.2))
KEPT = Path(__file__).parents[1] / "docs" / "results" / "audit.json"
PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
BEGIN, END = "<!-- begin: made by benchmarks/audit.py -->\n", "<!-- end -->\n"
COLUMNS = (
    "covers, drawn",
    "covers, after",
    "error, drawn",
    "error, after",
    "kept, before",
    "kept, after",
    "recall, before",
    "recall, after",
)


def problems(only: str | None) -> Iterator[tuple[str, Problem, IntArray]]:
    def wanted(name: str) -> bool:
        return only is None or only in name

    for name in filter(wanted, RESEARCH):
        yield name, *load(name)[1:]
    for network, kept, lost, given in COPIES:
        name = f"{network}, {kept:.0%} kept"
        if wanted(name):
            read, _ = read_network(ROOT.parent / "singles" / network / "edges.tsv")
            yield name, *partial_copies(read, kept, lost, given, seed=1)
    for both, overlap, given in PLANTED:
        name = f"planted, {both} of 1500"
        if wanted(name):
            pair = planted(1500, 1500, both, 12_000, 12_000, overlap, seed=1)
            anchors = np.random.default_rng(1).permutation(np.asarray(pair.anchors))
            known, test = np.split(anchors, [int(given * len(anchors))])
            yield name, Problem(pair.left, pair.right, known), test


def audited(
    matches: Matches, right: BoolArray, answers: int, seed: int, config: Config
) -> tuple[Matches, dict[str, Any]]:
    """The matches after an audit whose reviewer knows which rows are right."""
    sample = draw(matches, answers, seed)
    words = tuple("yes" if right[row] else "no" for row in sample.rows(matches))
    return decide_audited(matches, replace(sample, answer=words), config.decide)


def measure(problem: Problem, test: IntArray, asked: argparse.Namespace) -> dict[str, Any]:
    outcome = solve(problem, Config(method="evidence"), MemoryRun())
    matches, target = outcome.matches, outcome.config.decide.precision
    partner = np.full(problem.left.n, -1)
    partner[test[:, 0]] = test[:, 1]

    def is_right(one: Matches) -> BoolArray:
        return np.asarray(partner[one.left] == one.right)

    right = is_right(matches)
    order = np.flatnonzero(matches.assigned)[np.argsort(-matches.probability[matches.assigned], kind="stable")]
    found = np.cumsum(right[order])
    good = np.flatnonzero(found / np.arange(1, len(order) + 1) >= target)
    oracle = int(found[good[-1]]) if len(good) else 0
    called = matches.decision == 2
    before = float(right[called].mean()) if called.any() else None
    rows = []
    for seed in range(asked.draws):
        after, shown = audited(matches, right, asked.answers, seed, outcome.config)
        # The estimate is about what the threshold calls; single answers change the matches on top of that.
        top = order[: shown["matches"]]
        precise = float(right[top].mean()) if len(top) else None
        made = after.decision == 2
        realised = float(is_right(after)[made].mean()) if made.any() else 1.0
        drawn = shown["drawn"]
        rows.append(
            (
                None if drawn is None or before is None else drawn["low"] <= before <= drawn["high"],
                None if precise is None or shown["low"] is None else shown["low"] <= precise <= shown["high"],
                None if drawn is None or before is None else drawn["precision"] - before,
                None if precise is None or shown["precision"] is None else shown["precision"] - precise,
                realised >= target - 0.02,
                is_right(after)[made].sum() / max(oracle, 1),
            )
        )

    def mean(place: int) -> float:
        return float(np.mean([row[place] for row in rows if row[place] is not None] or [np.nan]))

    return {
        "matches": int(called.sum()),
        "precision": before,
        COLUMNS[0]: mean(0),
        COLUMNS[1]: mean(1),
        COLUMNS[2]: mean(2),
        COLUMNS[3]: mean(3),
        COLUMNS[4]: float(before is None or before >= target - 0.02),
        COLUMNS[5]: mean(4),
        COLUMNS[6]: float(right[called].sum() / max(oracle, 1)),
        COLUMNS[7]: mean(5),
    }


def _shown(column: str, value: float) -> str:
    return f"{value:+.3f}" if column.startswith("error") else f"{value:.2f}"


def table(rows: dict[str, dict[str, Any]]) -> str:
    lines = [f"| problem | matches | precision | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 3) + "|"]
    for name, row in rows.items():
        precision = "–" if row["precision"] is None else f"{row['precision']:.2f}"
        lines.append(
            f"| {name} | {row['matches']:,} | {precision} | {' | '.join(_shown(c, row[c]) for c in COLUMNS)} |"
        )
    means = [float(np.nanmean([row[column] for row in rows.values()])) for column in COLUMNS]
    lines.append(f"| mean | | | {' | '.join(map(_shown, COLUMNS, means))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = {}
    for name, problem, test in problems(asked.only):
        rows[name] = measure(problem, test, asked)
        print(name, {key: None if value is None else round(value, 3) for key, value in rows[name].items()}, flush=True)
    print(table(rows))
    if os.environ.get("KEDGE_KEEP"):
        KEPT.write_text(json.dumps({"draws": asked.draws, "answers": asked.answers, "problems": rows}, indent=2) + "\n")
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{table(rows)}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
