"""Evidence propagation: a matched pair of neighbours is evidence for a pair of accounts, a missing edge against it.

With s = P(edge on the right | edge on the left, ends matched), t its mirror, chance rates p(u, a) = x / (1 + x) for
x = d_u d_a / 2m_1 and q(v, b) likewise, beliefs P(a, b) (anchors: 1), rho(a) = sum_b P(a, b) at most 1:

    left(u, v)  = sum_{a in N(u)} log(1 - s rho(a) + sum_{b in N(v)} P(a, b) (s / q(v, b) - (1 - s)))
    right(u, v) = sum_{b in N(v)} log(1 - t rho(b) + sum_{a in N(u)} P(a, b) (t / p(u, a) - (1 - t)))
    L(u, v)     = (left + right) / 2 + degree_prior(u, v) + prior(u, v)

A term is the log of the mean likelihood ratio over where a neighbour's partner may be, with ratio 1 for "nowhere": an
uncertain neighbour counts little, whatever it misses. Averaging the two views counts a common edge once by the
geometric mean of its two ratios, and each missing edge half. Beliefs are a two-sided softmax of L with room for "no
counterpart".

Temperature falls from round to round, so that early rounds, which have only the evidence of the anchors, do not decide
what later rounds estimate better. With κ the anchored neighbours that an account has in the mean (the smaller of the
two networks' means):

    rounds       R = most / κ, at least `least` and at most `most`
    temperature  T(r) = T_last (T_first / T_last)^(1 - r / (R - C)) for r < R - C, then T_last;  C = R / 3
    beliefs      P(r) = the beliefs of round r, for r < R - C - 2, then half of it and half of P(r - 1)

An account with several anchored neighbours has its evidence in the first rounds, so more rounds only give errors time
to confirm each other. All accounts are updated at once, so two rivals can alternate for ever; at the last, lowest
temperature, halving each change ends that. Earlier it would only slow propagation. `benchmarks/evidence_choice.py`
compares this with other schedules on validation anchors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.config import EvidenceConfig
from kedge.context import CacheEntry, digest
from kedge.engine import open_session
from kedge.evidence.beliefs import at_least, believed, two_sided
from kedge.evidence.blocks import Sizes, Where, drop_blocks, run_round, with_blocks
from kedge.evidence.model import Evidence, edge_rates, fit_degree_prior
from kedge.evidence.profile_prior import ProfilePrior, all_priors
from kedge.evidence.round import Model, current, entries, fix
from kedge.linalg import (
    join_csr,
    nearby_order,
    renumber,
    reorder,
    row_index,
    split_csr,
    with_data,
)
from kedge.linalg.assign import How, assign
from kedge.types import BoolArray, FloatArray, IntArray, Network, Problem

_DAMPING = 0.5  # share of the beliefs before, where they are mixed (benchmarks/evidence_choice.py)
# Stored entries up to which the assignment is optimal. At a million entries it takes about a second (real log-odds) to
# seven (integers, where most gains tie); its cost grows faster than linearly.
_OPTIMAL = 1_000_000
_CACHED = 50_000  # accounts of both networks up to which their order does not matter
_NONE = np.zeros(0, np.int64)
_FREE_WORK = 2e8  # below this a round takes a second or two, and nothing is left out


@dataclass(frozen=True)
class Round:
    """Temperature of a round, and the share of the beliefs before it that its own are mixed with."""

    temperature: float
    kept: float


def anchored_neighbours(problem: Problem) -> float:
    """κ: how many anchored neighbours an account has in the mean, on the side where it has fewer."""
    sides = zip((problem.left, problem.right), problem.anchors.T, strict=True)
    return min(float(network.degrees[anchored].sum()) / max(network.n, 1) for network, anchored in sides)


def schedule(problem: Problem, most: int, least: int, first: float, last: float) -> tuple[Round, ...]:
    """The rounds of a problem, from temperature `first` to `last`."""
    reach = anchored_neighbours(problem)
    rounds = int(np.clip(np.ceil(most / max(reach, 1.0)), min(least, most), most))
    cold = rounds - round(rounds / 3)
    return tuple(
        Round(
            temperature=last * (first / last) ** max(1 - place / max(cold, 1), 0),
            kept=_DAMPING if place and place >= cold - 2 else 0.0,
        )
        for place in range(rounds)
    )


def matched(L: csr_array) -> BoolArray:
    """Which stored entries the best one-to-one assignment takes.

    First among entries above 0, where no counterpart is worth 0; then the accounts still free among the rest, since a
    weak partner is better than none in a ranking and must not displace a strong one. Beyond `_OPTIMAL` entries the best
    ones are taken greedily.
    """
    how: How = "optimal" if L.nnz <= _OPTIMAL else "greedy"
    strong = assign(L, how)
    taken = np.zeros(L.shape[0], bool), np.zeros(L.shape[1], bool)
    taken[0][strong[:, 0]] = taken[1][strong[:, 1]] = True
    rest = ~(np.repeat(taken[0], np.diff(L.indptr)) | taken[1][L.indices])
    lowest = float(L.data.min(initial=0.0, where=rest))
    weak = assign(with_data(L, np.where(rest, L.data - lowest + 1.0, 0.0)), how)
    partner = np.full(L.shape[0], -1, np.int64)
    for pairs in (strong, weak):
        partner[pairs[:, 0]] = pairs[:, 1]
    return np.asarray(partner[row_index(L)] == L.indices)


def _with_anchors(problem: Problem, left: IntArray, right: IntArray, belief: FloatArray) -> csr_array:
    """Beliefs in pairs beside the anchors' certainty."""
    rows = np.concatenate([left, problem.anchors[:, 0]])
    columns = np.concatenate([right, problem.anchors[:, 1]])
    values = np.concatenate([belief, np.ones(len(problem.anchors))])
    return csr_array((values, (rows, columns)), shape=(problem.left.n, problem.right.n))


def _damped(P: csr_array, before: csr_array, share: float, least: float) -> csr_array:
    """`share` of the beliefs before and the rest of the new ones, without what is then under `least`."""
    if share == 0:
        return P
    mixed = csr_array((1 - share) * P + share * before)
    mixed.data[mixed.data < least] = 0
    mixed.eliminate_zeros()
    return mixed


def _affordable(problem: Problem, P: csr_array, work: float) -> csr_array:
    """P without the beliefs between the largest hubs, where more messages than `work` would be sent.

    A pair (a, b) sends messages to d_a d_b pairs; the more there are, the less each of them counts.
    """
    rows = row_index(P)
    cost = problem.left.degrees[rows] * problem.right.degrees[P.indices]
    if cost.sum() <= work:
        return P
    order = np.argsort(cost / P.data, kind="stable")
    kept = np.sort(order[np.cumsum(cost[order]) <= work])
    return csr_array((P.data[kept], (rows[kept], P.indices[kept])), shape=P.shape)


def propagate(
    problem: Problem,
    config: EvidenceConfig,
    prior: csr_array | None = None,
    profiles: ProfilePrior | None = None,
    start: csr_array | None = None,
    where: Where | None = None,
) -> Evidence:
    """Repeat: send the evidence of the believed pairs to their neighbours, and renew the beliefs.

    `prior` holds log-odds of pairs from elsewhere, n_1 × n_2; its pairs are candidates even without evidence, and so
    are those that `profiles` have looked at. `start` holds beliefs of nearly the same problem: from them on, only the
    rounds are run in which beliefs are mixed. Networks that the cache does not hold are worked on in an order that
    spares it (`nearby_order`); only between equals, where numbers decide, does that change anything. `where`
    rounds are computed changes nothing.
    """
    where = where or Where()
    if problem.left.n + problem.right.n <= _CACHED:
        return _propagate(problem, config, prior, profiles, start, where)
    left, right = nearby_order(problem.left), nearby_order(problem.right)
    moved, begun = (None if given is None else reorder(given, left, right)[0] for given in (prior, start))
    there = None if profiles is None else profiles.renumbered(left, right)
    made = _propagate(renumber(replace(problem, profiles=None), left, right), config, moved, there, begun, where)
    back = np.argsort(left), np.argsort(right)
    log_odds, entries = reorder(made.log_odds, *back)
    return replace(
        made,
        log_odds=log_odds,
        support=reorder(made.support, *back)[0],
        beliefs=with_data(log_odds, made.beliefs.data[entries]),
        assigned=made.assigned[entries],
        degree_prior=made.degree_prior.of_accounts(*back),
        prior=None if made.prior is None else reorder(made.prior, *back)[0],
    )


def may_divide(problem: Problem, config: EvidenceConfig, profiles: bool) -> bool:
    """Whether rounds may run in blocks, and elsewhere: not small ones, which take seconds, and not with profiles, where
    each round looks at every pair."""
    return config.form != "dense" and not profiles and problem.left.n + problem.right.n > _CACHED


def kept_of(accounts: int, config: EvidenceConfig) -> int:
    """How many candidates of each account the result has: `keep`, fewer where all accounts together have too many."""
    return max(min(config.keep, config.candidates), min(config.keep, config.entries // max(accounts, 1)))


def sizes_of(left: Network, right: Network, config: EvidenceConfig) -> Sizes:
    """What the memory of the rounds depends on."""
    kept = kept_of(left.n + right.n, config)
    return Sizes(left.n, right.n, right.adjacency.nnz, config.candidates, kept)


@dataclass(frozen=True)
class _State:
    """Where the rounds have come to: beliefs, those that entered the last round, and the mean change of each."""

    P: csr_array
    support: csr_array
    trace: tuple[float, ...] = ()

    def entry(self, where: Where) -> CacheEntry:
        """As it is saved; with the blocks of the next round, so that a command that goes on finds those again."""
        arrays = split_csr(self.P, "P_") | split_csr(self.support, "support_")
        facts = {"blocks": where.blocks, "band": where.band}
        return CacheEntry(arrays | {"trace": np.asarray(self.trace)}, facts)

    @staticmethod
    def of(entry: CacheEntry) -> _State:
        """As it was saved."""
        P, support = join_csr(entry.arrays, "P_"), join_csr(entry.arrays, "support_")
        if P is None or support is None:
            raise KeyError("P_data")
        return _State(P, support, tuple(entry.arrays["trace"].tolist()))


def _propagate(
    problem: Problem,
    config: EvidenceConfig,
    prior: csr_array | None,
    profiles: ProfilePrior | None,
    start: csr_array | None,
    where: Where,
) -> Evidence:
    shape = (problem.left.n, problem.right.n)
    given = prior
    prior = csr_array(shape, dtype=np.float64) if prior is None else prior.astype(np.float64)
    s, t = edge_rates(problem)
    degree_prior = fit_degree_prior(problem)
    own = degree_prior if profiles is None else profiles.joined(degree_prior)
    work = max(_FREE_WORK, config.work * (problem.left.edges + problem.right.edges))
    rounds = schedule(problem, config.rounds, config.least_rounds, config.first_temperature, config.temperature)
    P = _with_anchors(problem, _NONE, _NONE, np.zeros(0))
    if start is not None:
        P = csr_array(P.maximum(start))
        rounds = tuple(one for one in rounds if one.kept) or rounds
    model = Model((s, t), own, prior)
    fixed = fix(problem, model)
    if not may_divide(problem, config, profiles is not None):
        where = Where()
    where = with_blocks(where, sizes_of(problem.left, problem.right, config))
    keys = _keys(problem, config, prior, P, len(rounds)) if where.cache.lasts else None
    state, done, where = _resume(P, keys, where)
    with open_session(where.engine, where.progress.note) as session:
        for place, this in enumerate(rounds[done:], done + 1):
            before, last = state.P, place == len(rounds)
            support = _affordable(problem, before, work)
            if profiles is not None:
                fixed = fixed._replace(prior=entries(csr_array(prior + profiles.beyond)))
            keep = kept_of(sum(shape), config) if last else config.candidates
            key = "" if keys is None else keys[place - 1]
            found = run_round(problem, fixed, current(problem, support, model), keep, where, key, session)
            if last or profiles is not None or session is not None or where.blocks == 1:
                L, found = found.whole(), found.without_lists()  # or both would take memory until the next round
                if profiles is not None:
                    L, profiles = profiles.look_at(L)
                belief = two_sided(L, this.temperature)
                left, right, values = at_least(L, belief, config.least_belief)
            else:
                left, right, values = believed(found.parts, shape, this.temperature, config.least_belief)
            drop_blocks(found.blocks, where, key)
            P = _damped(_with_anchors(problem, left, right, values), before, this.kept, config.least_belief)
            change = float(abs(P - before).sum() / max(sum(shape) / 2, 1))
            state = _State(P, support, (*state.trace, change))
            if keys is not None and not last:
                where.cache.put(keys[place], state.entry(where))
                where.cache.drop([keys[place - 1]])
            where.progress.advance(place, len(rounds), "rounds")
    if keys is not None:
        where.cache.drop(keys)
    beliefs = with_data(L, belief)
    given = all_priors(L, given, profiles)
    return Evidence(L, state.support, beliefs, matched(L), degree_prior, s, t, len(rounds), state.trace, given)


def _keys(problem: Problem, config: EvidenceConfig, prior: csr_array, P: csr_array, rounds: int) -> list[str]:
    """The name of the state before each round in the cache: all that it depends on."""
    parts = [array for network in (problem.left, problem.right) for array in _arrays(network.adjacency)]
    known = digest(
        ["evidence", config.model_dump(mode="json")],
        *parts,
        np.asarray(problem.anchors),
        np.asarray(problem.rejected),
        *_arrays(prior),
        *_arrays(P),
    )
    return [f"{known}-{place}" for place in range(rounds)]


def _arrays(matrix: csr_array) -> tuple[NDArray[Any], ...]:
    return matrix.indptr, matrix.indices, matrix.data


def _resume(P: csr_array, keys: list[str] | None, where: Where) -> tuple[_State, int, Where]:
    """The state of an interrupted command, how many rounds it had done, and its blocks; else the beliefs P."""
    for done in range(len(keys or ()) - 1, -1, -1):
        held = where.cache.get((keys or [])[done])
        if held is not None:
            where.progress.note(f"evidence goes on after round {done}, where an earlier command stopped")
            # Its blocks again, whatever the limit is now: some of this round's may lie there.
            where = replace(where, blocks=int(held.facts["blocks"]), band=float(held.facts["band"]))
            return _State.of(held), done, where
    state = _State(P, P)
    if keys is not None and where.blocks > 1:
        where.cache.put(keys[0], state.entry(where))
    return state, 0, where
