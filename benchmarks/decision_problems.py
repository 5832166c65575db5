"""The problems that decisions are measured on: research pairs, planted pairs and partial copies of real networks.

Anchors are the split of a research pair, or drawn from the true pairs: uniformly, by degree (a pair's chance grows with
its degrees, as people know best whom they meet most), or from one community of the left network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from copies import partial_copies
from shared_pairs import ROOT, load

from kedge.ingest import read_network
from kedge.linalg import canonical, renumber
from kedge.partition import louvain
from kedge.synthetic import planted
from kedge.types import IntArray, Network, Problem

SAMPLED = ("npm-debian",)  # research pairs whose list has only a part of the true pairs


@dataclass(frozen=True)
class Posed:
    """A problem with the pairs to find, [m, 2]; `whole`: no others are right. `drawn`: how anchors were."""

    problem: Problem
    test: IntArray
    drawn: str
    whole: bool = True

    def in_order(self) -> Posed:
        """With its accounts in their canonical order, as `kedge match` reads it."""
        return self._under(canonical(self.problem))

    def shuffled(self) -> Posed:
        """The same question from other files: rows in another order, accounts renamed, the sides exchanged."""
        rng = np.random.default_rng(0)
        networks = (self.problem.left, self.problem.right)
        moved = self._under(renumber(self.problem, *(rng.permutation(network.n) for network in networks)))
        names = [pa.array([f"z{i}" for i in rng.permutation(network.n)], pa.large_string()) for network in networks]
        renamed = replace(
            moved.problem,
            left=Network(moved.problem.left.adjacency, names[0]),
            right=Network(moved.problem.right.adjacency, names[1]),
            anchors=rng.permutation(moved.problem.anchors),
        )
        return replace(self, problem=renamed.mirrored(), test=moved.test[:, ::-1])

    def _under(self, other: Problem) -> Posed:
        """With the numbers that `other` has for the same ids."""
        sides = ((self.problem.left, other.left), (self.problem.right, other.right))
        columns = [new.find(old.ids.take(pa.array(own))) for (old, new), own in zip(sides, self.test.T, strict=True)]
        return replace(self, problem=other, test=np.column_stack(columns))


def _listed(name: str, split: str) -> Posed:
    """A research pair with one of its splits."""
    _, problem, test = load(name, split)
    return Posed(problem, test, "listed", name not in SAMPLED)


def _redrawn(made: Callable[[], Posed], count: int, drawn: str) -> Posed:
    """The same networks and true pairs, so many of them anchors, drawn in one of the three ways."""
    posed = made()
    problem, rng = posed.problem, np.random.default_rng(1)
    pairs = rng.permutation(np.concatenate([problem.anchors, posed.test]))
    if drawn == "degree":  # without replacement, the chance of a pair proportional to its degrees
        degree = problem.left.degrees[pairs[:, 0]] + problem.right.degrees[pairs[:, 1]]
        pairs = pairs[np.argsort(rng.exponential(size=len(pairs)) / np.maximum(degree, 1e-9))]
    if drawn == "community":  # the largest one, and where it is too small the next
        community = louvain(problem.left.adjacency, seed=1)[pairs[:, 0]]
        sizes = np.bincount(community)
        pairs = pairs[np.lexsort((community, -sizes[community]))]
    return replace(posed, problem=replace(problem, anchors=pairs[:count]), test=pairs[count:], drawn=drawn)


def _planted(n: int, both: int, overlap: float) -> Posed:
    """n accounts a side with 16 neighbours in the mean, `both` of them with a counterpart."""
    made = planted(n, n, both, 8 * n, 8 * n, overlap, seed=1)
    return Posed(Problem(made.left, made.right, np.empty((0, 2), np.int64)), np.asarray(made.anchors), "")


def _copies(name: str, kept: float, lost: float) -> Posed:
    """Two copies of a real network; `kept` is the share of accounts with a counterpart."""
    network, _ = read_network(ROOT.parent / "singles" / name / "edges.tsv")
    return Posed(*partial_copies(network, kept, lost, 0.0, seed=1, apart=True), "")


def _problems() -> dict[str, Callable[[], Posed]]:
    listed = (
        ("douban", "off20"),
        ("phone-email", "off20"),
        ("cora", "off20"),
        ("arenas95", "r20_s0"),
        ("arxiv-multiplex-2-12", "r20_s0"),
        ("facebook-twitter-small", "r20_s0"),
        ("npm-debian", "r20_s0"),
        ("arenas95", "r10_s0"),
        ("phone-email", "r50_s0"),
    )
    redrawn = (
        ("douban", 223, "degree"),
        ("arxiv-multiplex-2-12", 779, "degree"),
        ("cora", 541, "community"),
    )
    # accounts a side, those with a counterpart, share of common edges, anchors, how they are drawn
    made = (
        (3000, 750, 0.8, 150, "uniform"),
        (2000, 1000, 0.8, 300, "degree"),
        (2000, 1000, 0.7, 200, "community"),
        (2000, 1500, 0.7, 50, "uniform"),
        (2000, 2000, 0.7, 200, "uniform"),
        (8000, 7000, 0.7, 5000, "uniform"),
    )
    # network, shares of accounts in both copies and of edges lost in either, anchors, how they are drawn
    copies = (
        ("gemsec-fb-government", 0.25, 0.1, 400, "uniform"),
        ("fb100-hamilton46", 0.25, 0.2, 80, "uniform"),
        ("fb100-hamilton46", 0.25, 0.2, 80, "degree"),
        ("gemsec-fb-tvshow", 0.5, 0.1, 500, "uniform"),
        ("fb100-bowdoin47", 0.5, 0.3, 150, "uniform"),
        ("fb100-swarthmore42", 0.5, 0.4, 120, "degree"),
        ("fb100-swarthmore42", 0.5, 0.4, 120, "community"),
        ("gemsec-fb-politician", 0.75, 0.3, 600, "uniform"),
        ("gemsec-fb-politician", 0.75, 0.3, 600, "community"),
        ("ego-facebook", 0.75, 0.3, 450, "degree"),
        ("gemsec-fb-tvshow", 1.0, 0.3, 350, "uniform"),
        ("fb100-haverford76", 1.0, 0.5, 140, "degree"),
    )
    return {
        **{f"{name} {split}": partial(_listed, name, split) for name, split in listed},
        **{
            f"{name} {drawn}": partial(_redrawn, partial(_listed, name, "r20_s0"), count, drawn)
            for name, count, drawn in redrawn
        },
        **{
            f"planted {n} {100 * both // n} % {drawn}": partial(
                _redrawn, partial(_planted, n, both, overlap), count, drawn
            )
            for n, both, overlap, count, drawn in made
        },
        **{
            f"{name} {kept:.0%} {drawn}".replace("%", " %"): partial(
                _redrawn, partial(_copies, name, kept, lost), count, drawn
            )
            for name, kept, lost, count, drawn in copies
        },
    }


PROBLEMS = _problems()
# what methods with vectors can do in time, of each kind
SOME = (
    "douban off20",
    "cora off20",
    "arenas95 r20_s0",
    "planted 2000 50 % degree",
    "fb100-bowdoin47 50 % uniform",
    "fb100-swarthmore42 50 % degree",
)
