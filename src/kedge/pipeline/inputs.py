"""What goes into matching: where it comes from, the problem that is read from it without purged accounts, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse.csgraph import connected_components

from kedge import ingest
from kedge.config import Config
from kedge.context import Progress
from kedge.engine import check_engine
from kedge.evidence import IDLE_MB, needed_mb, sizes_of, with_vectors, worker_mb
from kedge.linalg import canonical, without_entries
from kedge.methods import METHODS, Method, find_method
from kedge.methods.shared.costs import estimate_seconds
from kedge.pipeline.profiles import draws_from_profiles, note_fields, note_unread, read_both, refuse_no_profiles
from kedge.probability import count_folds, count_parts
from kedge.profiles import choose_fields, shared_values
from kedge.types import BoolArray, Hypergraph, IntArray, KedgeError, Network, Problem, Profiles

_USUAL: Final = 3  # refinements after which few matches are new
_WORKERS: Final = 8  # worker threads of a cluster that `kedge check` reckons with

_FORGOTTEN: Final = "[forgotten {}]"  # the name of an account that was purged
Forgotten = tuple[IntArray, IntArray]  # the accounts of the left and of the right network


@dataclass(frozen=True)
class Inputs:
    """Where the networks, the anchors and perhaps the held-out pairs come from: paths or objects.

    `hypergraphs` are the user's own hyperedges of the left and of the right network, None where kedge builds them;
    `profiles` what else is known of their accounts.
    """

    left: Any
    right: Any
    anchors: Any
    test: Any | None = None
    hypergraphs: tuple[Any | None, Any | None] = (None, None)
    profiles: tuple[Any | None, Any | None] = (None, None)


def hold_pipes(inputs: Inputs, config: Config) -> Inputs:
    """The inputs with what came through stdin or pipes in memory: it can be read only once, and is needed twice.

    A run is resumed by the same command, which sends the same content again.
    """

    def held(source: Any) -> Any:
        return ingest.hold_pipe(source, config.read)

    return Inputs(
        held(inputs.left),
        held(inputs.right),
        held(inputs.anchors),
        held(inputs.test),
        (held(inputs.hypergraphs[0]), held(inputs.hypergraphs[1])),
        (held(inputs.profiles[0]), held(inputs.profiles[1])),
    )


def read_problem(inputs: Inputs, config: Config, progress: Progress) -> Problem:
    """The two networks, the observed anchors, and hypergraphs that the user gave; accounts in their canonical order."""
    method = find_method(config.method)
    method.check_installed()
    if method.trains:
        check_engine(config.engine)
    if not method.reads_hypergraphs and any(source is not None for source in inputs.hypergraphs):
        *most, last = (other.name for other in METHODS.values() if other.reads_hypergraphs)
        raise KedgeError(
            f"the method {method.name!r} has no use for a hypergraph",
            remedy=f"leave it out, or choose the method {', '.join(most)} or {last}",
        )
    if inputs.anchors is None and (inputs.profiles == (None, None) or not method.reads_profiles):
        unread = f", and the method {method.name} does not read profiles" if not method.reads_profiles else ""
        raise KedgeError(
            f"no anchors: nothing is known of any pair{unread}",
            remedy="give known pairs (--anchors), or profiles of both networks (--left-profiles, --right-profiles)",
        )
    progress.stage("reading the left network")
    left, left_report = ingest.read_network(inputs.left, config.read, "left")
    progress.stage("reading the right network")
    right, right_report = ingest.read_network(inputs.right, config.read, "right")
    for note in (*reading_notes("left", left_report), *reading_notes("right", right_report)):
        progress.note(note)
    for note in _unread_notes(method, left_report, right_report):
        progress.note(note)
    if left.is_same_as(right):
        progress.note(ingest.SAME_NETWORK)
    problem = _with_anchors(left, right, inputs, config, progress)

    def own(side: str, source: Any, network: Network, read: Network) -> Hypergraph | None:
        if source is None:
            return None
        progress.stage(f"reading the {side} hypergraph")
        return ingest.read_hypergraph(source, network, config.read, network.n - read.n)

    hypergraphs = (
        own("left", inputs.hypergraphs[0], problem.left, left),
        own("right", inputs.hypergraphs[1], problem.right, right),
    )
    hubs = (ingest.hub_warning(side, network) for side, network in (("left", problem.left), ("right", problem.right)))
    for note in (*filter(None, hubs), *(() if inputs.anchors is None else _anchor_notes(problem, method))):
        progress.note(note)
    drawn = any(given is None for given in inputs.hypergraphs)
    profiles, values = profiles_for(inputs.profiles, problem, config, progress, drawn=drawn)
    problem = canonical(replace(problem, hypergraphs=hypergraphs, profiles=profiles, shared_values=values))
    if problem.profiles is not None:
        note_fields(problem.profiles, problem.anchors, config, progress)
    return problem


def _unread_notes(method: Method, left: ingest.EdgeReport, right: ingest.EdgeReport) -> Iterator[str]:
    """A note where edges have weights that the method does not read."""
    weighted = [side for side, report in (("left", left), ("right", right)) if report.weighted]
    if weighted and not method.reads_weights:
        others = ", ".join(other.name for other in METHODS.values() if other.reads_weights)
        sides = f"both networks have weights, which the method {method.name} ignores"
        if len(weighted) == 1:
            sides = f"the {weighted[0]} network has weights, which the method {method.name} ignores"
        yield f"{sides}; these read them: {others}"


def _with_anchors(left: Network, right: Network, inputs: Inputs, config: Config, progress: Progress) -> Problem:
    """The problem with the anchors that were given, if any were."""
    if inputs.anchors is None:
        return Problem(left, right, np.empty((0, 2), np.int64))
    columns = ingest.read_pairs(inputs.anchors, config.read)
    resolved = ingest.resolve_pairs(columns, left, right)
    for note in resolved.report.notes:
        progress.note(f"anchors: {note}")
    problem = ingest.build_problem(left, right, resolved, columns, config.read.contradictory)
    if resolved.report.contradictory:
        progress.note(f"{resolved.report.contradictory:,} anchors give one account several partners and are left out")
    return problem


def profiles_for(
    sources: tuple[Any | None, Any | None], problem: Problem, config: Config, progress: Progress, *, drawn: bool = True
) -> tuple[tuple[Profiles, Profiles] | None, tuple[Hypergraph | None, Hypergraph | None]]:
    """The profiles, where the method reads them, and the values that hyperedges are drawn from, where it does that.

    `drawn`: whether any hyperedges are drawn at all, and not all given by the user.
    """
    method = find_method(config.method)
    draws = (
        drawn
        and method.reads_hypergraphs
        and draws_from_profiles(config, any(source is not None for source in sources))
    )
    if all(source is None for source in sources):
        if draws:
            refuse_no_profiles("--left-profiles and --right-profiles")
        return None, (None, None)
    if not (method.reads_profiles or draws):
        note_unread(method, progress)
        return None, (None, None)
    profiles = read_both(sources, (problem.left, problem.right), config, progress)
    values = shared_values(*profiles, config.profiles, config.hypergraph.largest) if draws else (None, None)
    return profiles if method.reads_profiles else None, (values[0], values[1])


def read_test(inputs: Inputs, problem: Problem, config: Config, progress: Progress) -> IntArray | None:
    """The held-out pairs, if the user gave any."""
    if inputs.test is None:
        return None
    test, notes = ingest.resolve_test(ingest.read_pairs(inputs.test, config.read), problem)
    for note in notes:
        progress.note(note)
    return test


def forget_accounts(problem: Problem, forgotten: Forgotten) -> Problem:
    """The problem without these accounts' edges, names, anchors, rejected pairs and memberships.

    They keep their numbers, so that everything else still fits together.
    """
    return replace(
        problem,
        left=_blanked(problem.left, forgotten[0]),
        right=_blanked(problem.right, forgotten[1]),
        anchors=without_pairs(problem.anchors, forgotten),
        rejected=without_pairs(problem.rejected, forgotten),
        hypergraphs=(
            _after_leaving(problem.hypergraphs[0], forgotten[0]),
            _after_leaving(problem.hypergraphs[1], forgotten[1]),
        ),
        shared_values=(
            _after_leaving(problem.shared_values[0], forgotten[0]),
            _after_leaving(problem.shared_values[1], forgotten[1]),
        ),
        profiles=problem.profiles
        and (problem.profiles[0].without(forgotten[0]), problem.profiles[1].without(forgotten[1])),
    )


def _after_leaving(hypergraph: Hypergraph | None, accounts: IntArray) -> Hypergraph | None:
    """The hypergraph after these accounts have left all its hyperedges."""
    if hypergraph is None:
        return None
    return Hypergraph(without_entries(hypergraph.H, accounts, np.empty(0, np.int64)), hypergraph.centres)


def _blanked(network: Network, accounts: IntArray) -> Network:
    if len(accounts) == 0:
        return network
    adjacency = without_entries(network.adjacency, accounts, accounts)
    mask = np.zeros(network.n, bool)
    mask[accounts] = True
    names = pa.array([_placeholder(network, int(account)) for account in np.flatnonzero(mask)], pa.large_string())
    return Network(adjacency, pc.replace_with_mask(network.ids.cast(pa.large_string()), pa.array(mask), names))


def _placeholder(network: Network, account: int) -> str:
    """A name for a forgotten account that no other account has."""
    name = _FORGOTTEN.format(account)
    while network.find([name])[0] not in (-1, account):
        name += "'"
    return name


def without_pairs(pairs: IntArray, forgotten: Forgotten) -> IntArray:
    """The pairs [m, 2] in which none of these accounts stands."""
    return pairs[~(np.isin(pairs[:, 0], forgotten[0]) | np.isin(pairs[:, 1], forgotten[1]))]


def is_forgotten(network: Network) -> BoolArray:
    """Which accounts have a name without meaning in place of their own, [n]."""
    mask = np.zeros(network.n, bool)
    for account in np.flatnonzero(network.degrees == 0).tolist():
        mask[account] = network.name(account).rstrip("'") == _FORGOTTEN.format(account)
    return mask


def count_refinements(left: Network, right: Network, anchors: int, config: Config) -> int:
    """Roughly how many refinements of evidence all runs of a match take together, those for calibration too.

    Later runs of a part keep the prior of its first one. The trial of a mixture is not counted; training reports its
    own progress.
    """
    if anchors == 0:
        return 0
    each = min(find_method(config.method).refinements(left, right, anchors, config), _USUAL)
    return each * (1 + count_parts(anchors, config.decide.holdout, config.decide.folds))


def estimate_cost(left: Network, right: Network, anchors: int, config: Config, fields: int = 0) -> tuple[float, float]:
    """Roughly how many CPU seconds and megabytes a match takes with this method and so many anchors."""
    repeated = count_refinements(left, right, anchors, config)
    seconds, megabytes = ingest.estimate_cost(left, right, repeated, fields)
    runs = count_folds(anchors, config.decide.holdout, config.decide.folds) if anchors else 0
    sizes = left.n + right.n, left.edges + right.edges
    own = estimate_seconds(find_method(config.method), config, *sizes, runs)
    return (seconds if own is None else round(own, 1)), megabytes


def cost_note(problem: Problem, config: Config) -> str:
    """What a match will take, estimated before it starts."""
    fields = 0 if problem.profiles is None else len(choose_fields(*problem.profiles, config.profiles))
    sides = problem.left, problem.right
    seconds, megabytes = estimate_cost(*sides, len(problem.anchors), with_vectors(problem, config), fields)
    return f"this will take roughly {seconds:,.0f} CPU seconds and {megabytes:,.0f} MB"


def fitting_places(left: Network, right: Network, config: Config, in_memory_mb: float) -> dict[str, int]:
    """What fits where, in MB: a match in memory, its rounds of evidence alone in one block and in the most blocks that
    `--max-memory` makes, and one of eight worker threads of a cluster.

    From the constants of evidence/blocks.py, which benchmarks/evidence_blocks.py compares with measured peaks.
    """
    sizes, edges = sizes_of(left, right, config.evidence), left.edges + right.edges
    # Both networks twice: as they are read, and in the order of neighbours.
    held = IDLE_MB + 2 * (16 * edges + 50 * (left.n + right.n)) / 1e6
    return {
        "in_memory_mb": round(in_memory_mb),
        "rounds_in_memory_mb": round(held + needed_mb(sizes)),
        "rounds_out_of_core_mb": round(held + needed_mb(sizes, 64, 1e6)),
        "worker_mb": round(worker_mb(sizes, edges, _WORKERS)),
    }


def reading_notes(name: str, report: ingest.EdgeReport) -> tuple[str, ...]:
    """What was dropped on reading a network, in one line, and what its reader noted."""
    dropped = (
        (report.comments, "comments"),
        (report.self_loops, "edges of an account with itself"),
        (report.repeated, "edges listed again or reversed"),
        (report.zero_weights, "edges of weight zero"),
    )
    parts = [f"{count:,} {what}" for count, what in dropped if count]
    lines = [f"of {report.rows + report.comments:,} lines dropped: {', '.join(parts)}"] if parts else []
    return tuple(f"{name}: {line}" for line in (*report.notes, *lines))


def _anchor_notes(problem: Problem, method: Method) -> Iterator[str]:
    """One line for each quantity that these anchors cannot estimate, and for the accounts out of their reach."""
    left, right = problem.anchors.T
    count = len(problem.anchors)
    if count == 0:
        yield "no anchors: nothing is known of any pair, so nothing can be matched"
        return
    isolated = (problem.left.degrees[left] == 0) | (problem.right.degrees[right] == 0)
    if isolated.all():
        yield "every anchor has an account without edges: no evidence starts from any"
        return
    if isolated.any():
        some = int(isolated.sum())
        verb = "have" if some > 1 else "has"
        yield f"{some:,} of {count:,} anchors {verb} an account without edges: no evidence starts there"
    edges = ingest.edges_among(problem.left, problem.right, problem.anchors)
    misfit = ingest.misfit_warning(edges, count)
    if misfit is not None:
        yield misfit
    if method.explains:
        # Why the edges among the anchors do not show how often an edge is on both sides, where they do not.
        if min(edges.left, edges.right) < ingest.FEWEST_EDGES:
            few = "anchors are" if count > 1 else "anchor is"
            yield (
                f"{count:,} {few} too few to estimate how often an edge is on both sides "
                f"({edges.left} and {edges.right} edges among them): about one half is assumed"
            )
        yield from _reach_notes(problem)


def _reach_notes(problem: Problem) -> Iterator[str]:
    """Which accounts no path joins to any anchor."""
    far = []
    for side, network, anchored in zip(
        ("left", "right"), (problem.left, problem.right), problem.anchors.T, strict=True
    ):
        _, component = connected_components(network.adjacency, directed=False)
        count = int((~np.isin(component, component[anchored]) & (network.degrees > 0)).sum())
        far += [f"{count:,} {side} accounts"] if count else []
    if far:
        yield f"no path leads from an anchor to {' and '.join(far)}: no evidence reaches them"
