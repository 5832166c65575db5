"""Training one network, or one part of it: Adam on Eq. 10 for all steps, or until held-out edges stop improving."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from kedge.config import Config, HypergraphConfig, MgcnConfig
from kedge.context import one_thread, reuse_freed_memory, spawn_seeds
from kedge.hypergraph import DegenerateHypergraphWarning, Drawn, Report, draw_each, report
from kedge.hypergraph.autoencoder import encode
from kedge.mgcn.adam import Adam
from kedge.mgcn.checkpoint import Checkpoint, Course, pack, unpack
from kedge.mgcn.device import find_device, place
from kedge.mgcn.edge_dropout import draw_kept
from kedge.mgcn.gates import NO_SHIFTS, Shifts, read_shifted, read_tuned
from kedge.mgcn.holdout import Holdout, hold_out
from kedge.mgcn.model import Mgcn, Operators, prepare
from kedge.mgcn.objective import Edges, Sample, noise_distribution, noise_weight, pooled_loss, trivial_loss
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network

Progress = Callable[[int, float, float], None]
Verdict = Literal["trained", "collapsed", "nothing to learn"]

# What is trained one after another: with edges held out, released from the levels, then both again with all edges.
PHASES: Final = ("first", "first-released", "again", "again-released")
_CLEARLY = 0.97  # a fit has learnt something when its loss is below this share of the trivial one; unmeasured
_FAR = 30.0  # how long free vectors are when the levels release them; a trained X^0 has a length of about 5; unmeasured
# Below so many numbers in X^0 training takes one thread: a second one gains nothing on 1,000 accounts x 128 dimensions,
# and it halves the wall time on 4,000 and on 15,000 (benchmarks/mgcn_step.py --threads).
_ONE_THREAD_CELLS = 1 << 18


@dataclass(frozen=True)
class Embedding:
    """Vectors of one network and what is known of their fit.

    `ids` are the accounts' names; `vectors` float32 [n, d]; `losses` one per step; `trivial` the loss of equal vectors;
    `auc` how well held-out edges are separated from non-edges, None where none were held out; `steps` how many the
    vectors took, the last `released` of them without the levels; `hypergraph` the figures of the hyperedges; `gates`
    the share of each level's output that is passed on, a mean over accounts, where learned; `shifts` what held-out
    edges have added to the gates.
    """

    ids: pa.Array
    vectors: FloatArray
    losses: FloatArray
    trivial: float
    auc: float | None
    verdict: Verdict
    steps: int
    checks: tuple[tuple[int, float], ...] = field(default=())
    hypergraph: Report | None = None
    released: int = 0
    gates: tuple[float, float] | None = None
    shifts: Shifts = NO_SHIFTS

    @property
    def trained(self) -> bool:
        """Whether the fit may be used: its loss is clearly below the trivial one."""
        return self.verdict == "trained"


def judge(losses: FloatArray, trivial: float, auc: float | None, vectors: FloatArray) -> Verdict:
    """`trained` only if the loss ended clearly below the trivial one, vectors differ, and the AUC is above chance."""
    if len(losses) == 0:
        return "nothing to learn"
    # Not the first steps of a short fit: its loss falls fast there.
    ended = float(np.mean(losses[-min(10, -(-len(losses) // 2)) :]))
    spread = float(np.abs(vectors - vectors.mean(axis=0)).max(initial=0.0))
    learnt = ended < _CLEARLY * trivial and spread > 1e-4 and (auc is None or auc > 0.5)
    return "trained" if learnt else "collapsed"


def embed(
    network: Network,
    config: Config,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    hypergraph: Hypergraph | None = None,
    features: FloatArray | None = None,
    anchors: IntArray | None = None,
    X0: FloatArray | None = None,
    shared_values: Hypergraph | None = None,
    checkpoint: Checkpoint | None = None,
) -> Embedding:
    """Vectors of one network by MGCN (Eq. 1-10), with `config.mgcn` and `config.hypergraph`.

    `progress(step, loss, trivial loss)` is called after each step. A given `hypergraph` replaces the built ones, for
    training and final vectors alike; `features` [n, f] are needed for `start = "given"`, `anchors` (accounts of this
    network) for the anchor hypergraph, `shared_values` for that of profiles. `X0` [n, d] is where X^0 of
    `start = "free"` begins, in place of a random draw.
    `checkpoint` saves the state of the training now and then, and has that of an earlier, interrupted one.
    """
    settings = config.mgcn
    if settings.start == "given" and features is None:
        raise KedgeError("mgcn.start = given needs features", remedy="pass features=, one row per account")
    trivial = trivial_loss(noise_weight(settings), bias=settings.unit)
    if network.edges == 0:
        nothing = np.zeros((network.n, settings.dimensions), np.float32)
        return Embedding(network.ids, nothing, np.empty(0, np.float32), trivial, None, "nothing to learn", 0)
    device = find_device(config.engine.device)
    reuse_freed_memory()
    seeds = spawn_seeds(seed)
    share = settings.held_out if settings.stop != "never" else 0.0
    holdout = hold_out(network, share, np.random.default_rng(seeds[0])) if share else None
    rest = network if holdout is None else holdout.network

    def run(
        part: Network, judge_by: Holdout | None, steps: int, released: int, name: str, shifts: Shifts = NO_SHIFTS
    ) -> Embedding:
        drawn, redraw = hypergraph, None
        if drawn is None:
            parts = draw_each(part, config.hypergraph, seeds[1], anchors, shared_values)
            drawn, redraw = parts.united(), _redraw_every(config.hypergraph, parts)
        if (figures := report(drawn)).warning:
            warnings.warn(figures.warning, DegenerateHypergraphWarning, stacklevel=3)
        start = _start(part, settings, config.hypergraph.latent_steps, features, seeds[2])
        if X0 is not None and settings.start == "free":
            start = torch.from_numpy(np.array(X0, np.float32))
        task = _Task(
            part, drawn, settings, judge_by, seeds[2], trivial, progress, checkpoint, name, device, shifts, redraw
        )
        fit = _fit(task, start, steps)
        if released and fit.trained:
            fit = _release(task, fit, released)
        return replace(fit, hypergraph=figures)

    # Only held-out edges show whether vectors improve without the levels; given features cannot be trained on.
    released = settings.release if holdout is not None and settings.start == "free" else 0
    small = network.n * settings.dimensions < _ONE_THREAD_CELLS
    with one_thread() if small else nullcontext():
        first = run(rest, holdout, settings.steps, released, PHASES[0])
        if holdout is None or not settings.refit or not first.trained:
            return first
        # The number of steps is known now, so that the held-out edges may be learnt from too.
        again = run(network, None, first.steps - first.released, first.released, PHASES[2], first.shifts)
    return replace(again, auc=first.auc, checks=first.checks)


def _start(network: Network, settings: MgcnConfig, latent_steps: int, features: FloatArray | None, seed: int) -> Tensor:
    """X^0: free vectors, an autoencoder's codes, or the given features."""
    if settings.start == "given":
        assert features is not None
        return torch.from_numpy(features.copy())
    if settings.start == "autoencoder":
        codes = encode(network, settings.dimensions, latent_steps, seed)
        return torch.from_numpy((codes - codes.mean(axis=0)).astype(np.float32))
    generator = torch.Generator().manual_seed(seed + 1)
    shape = (network.n, settings.dimensions)
    return torch.randn(shape, generator=generator) / math.sqrt(settings.dimensions)


@dataclass(frozen=True)
class _Task:
    """A network to fit, the edges held out of it, and the loss that its fit is compared with."""

    network: Network
    hypergraph: Hypergraph
    settings: MgcnConfig
    holdout: Holdout | None
    seed: int
    trivial: float
    progress: Progress | None
    checkpoint: Checkpoint | None = None
    phase: str = PHASES[0]
    device: torch.device | None = None
    shifts: Shifts = NO_SHIFTS  # of the gates, where no held-out edges find them
    redraw: tuple[int, Drawn] | None = None  # steps from one draw of hyperedges to the next, and what they are drawn by

    def operators(self, vectors: FloatArray | None = None) -> Operators:
        """What convolves; the hyperedges of `nearest` by these vectors."""
        drawn = self.hypergraph if vectors is None or self.redraw is None else self.redraw[1].united(vectors)
        made = prepare(self.network, drawn, self.settings)
        return made if self.device is None else place(made, self.device)


def _redraw_every(settings: HypergraphConfig, drawn: Drawn) -> tuple[int, Drawn] | None:
    return (settings.redraw, drawn) if settings.redraw and "nearest" in settings.names else None


def _fit(task: _Task, start: Tensor, steps: int) -> Embedding:
    """Adam on the pooled Eq. 10; the vectors of the best check on held-out edges, or of the last step."""
    network, settings, holdout = task.network, task.settings, task.holdout
    draws, drops = torch.Generator().manual_seed(task.seed), torch.Generator().manual_seed(task.seed + 2)
    model = Mgcn(task.operators(), settings, start, draws)
    edges, noise = Edges.of(network), noise_distribution(network)
    count = edges.count
    if task.device is not None:
        model, edges = model.moved(task.device), place(edges, task.device)
    optimiser = Adam([p for p in model.parameters() if p.requires_grad], settings.learning_rate)
    course, generators = Course(shifts=task.shifts), (draws, drops)

    def read() -> FloatArray:
        return _vectors(model, network)

    if task.checkpoint is not None and (saved := task.checkpoint.load(task.phase)) is not None:
        course = unpack(saved, optimiser, generators)
        if course.drawn_from is not None:
            model.operators = task.operators(course.drawn_from)
    every = task.redraw[0] if task.redraw is not None and settings.levels != "none" else 0
    losses, checks = course.losses, course.checks
    for step in range(len(losses) + 1, steps + 1):
        if course.ended:
            break
        if every and step > 1 and step % every == 1 % every:
            course.drawn_from = _vectors(model, network)
            model.operators = task.operators(course.drawn_from)
        kept = draw_kept(count, settings, drops)
        pool = torch.multinomial(noise, settings.pool, replacement=True, generator=draws)
        if task.device is not None:
            kept, pool = None if kept is None else kept.to(task.device), pool.to(task.device)
        X = model(drops, kept)
        sample = Sample(pool, noise_weight(settings), None if kept is None else 1 - kept[:-1])
        losses.append(_descend(pooled_loss(X, model.bias, edges, sample), optimiser, settings.clip, step))
        if task.progress is not None:
            task.progress(step, losses[-1], task.trivial)
        if holdout is not None and (step % settings.check_every == 0 or step == steps):
            learnt = np.mean(losses[-10:]) < _CLEARLY * task.trivial  # before that, a better AUC would be chance
            now = read_tuned(model, read, holdout.judge, course.shifts, bool(learnt))
            course.shifts = now.shifts
            checks.append((step, now.auc))
            if course.best is None or now.auc > course.best[0]:
                course.best = (now.auc, step, now.vectors, now.gates)
                course.best_shifts = now.shifts
            elif step - course.best[1] >= settings.patience * settings.check_every:
                course.ended = True
        if task.checkpoint is not None:
            task.checkpoint.save(task.phase, lambda: pack(course, optimiser, generators))
    auc_found, taken, vectors, gates = course.best or (None, len(losses), *read_shifted(model, read, course.shifts))
    shifts = course.best_shifts if course.best else course.shifts
    curve = np.asarray(losses, np.float32)
    verdict = judge(curve[:taken], task.trivial, auc_found, vectors)
    return Embedding(
        network.ids, vectors, curve, task.trivial, auc_found, verdict, taken, tuple(checks), gates=gates, shifts=shifts
    )


def _descend(loss: Tensor, optimiser: Adam, clip: float, step: int) -> float:
    """One step of Adam down the loss, which is returned."""
    value = loss.item()
    if not math.isfinite(value):
        raise KedgeError(f"the loss is not a number at step {step}", remedy="lower mgcn.learning_rate")
    loss.backward()  # type: ignore[no-untyped-call]
    norm = torch.nn.utils.clip_grad_norm_(optimiser.parameters, clip)
    if not torch.isfinite(norm):
        raise KedgeError(f"the gradient is not a number at step {step}", remedy="lower mgcn.learning_rate")
    optimiser.step()
    return value


def _release(task: _Task, fit: Embedding, steps: int) -> Embedding:
    """The vectors as free ones, trained on without the levels; the fit as it was where held-out edges do not gain.

    The levels make neighbours alike: good where edges are few or noisy, a bound where each account has edges enough.
    """
    taken, settings, progress = fit.steps, task.settings, task.progress
    # Far from 0 the direction of a vector changes slowly under Adam's steps: what the levels found is not lost at once.
    lengths = np.linalg.norm(fit.vectors, axis=1, keepdims=True)
    scale = _FAR / np.maximum(lengths, 1e-12) if settings.unit else 1.0
    start = torch.from_numpy((fit.vectors * scale).astype(np.float32))

    def report_later(step: int, loss: float, trivial: float) -> None:
        if progress is not None:
            progress(len(fit.losses) + step, loss, trivial)

    alone = settings.model_copy(update={"levels": "none", "drop_edges": 0.0})
    phase = PHASES[PHASES.index(task.phase) + 1]
    free = _fit(replace(task, settings=alone, seed=task.seed + 3, progress=report_later, phase=phase), start, steps)
    if not free.trained or (fit.auc is not None and free.auc is not None and free.auc <= fit.auc):
        return fit
    checks = [(step, auc) for step, auc in fit.checks if step <= taken]
    checks += [(taken + step, auc) for step, auc in free.checks]
    losses = np.concatenate([fit.losses[:taken], free.losses])
    better = replace(free, losses=losses, checks=tuple(checks), gates=fit.gates, shifts=fit.shifts)
    return replace(better, steps=taken + free.steps, released=free.steps)


def _vectors(model: Mgcn, network: Network) -> FloatArray:
    """X^K as it is; an account without edges has learnt nothing, so a free one is 0, not its random draw."""
    with torch.no_grad():
        X: FloatArray = model().cpu().numpy().copy()
    if model.config.start == "free":
        X[network.degrees == 0] = 0.0
    return X
