"""Training one network, or one part of it: Adam on Eq. 10 for all steps, or until the edges left out stop gaining."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from kedge.config import Config, MgcnConfig
from kedge.errors import KedgeError
from kedge.hypergraph import DegenerateHypergraphWarning, Report, build_hypergraph, report
from kedge.hypergraph.autoencoder import encode
from kedge.mgcn.adam import Adam
from kedge.mgcn.holdout import Holdout, area_under_curve, hold_out, score_pairs
from kedge.mgcn.model import Mgcn, prepare
from kedge.mgcn.objective import Edges, noise_weights, pooled_loss, trivial_loss
from kedge.spmm import hold_memory
from kedge.types import FloatArray, Hypergraph, IntArray, Network

__all__ = ["VERDICTS", "Embedding", "Progress", "Verdict", "embed", "hide", "judge"]

Progress = Callable[[int, float, float], None]
Verdict = Literal["trained", "collapsed", "nothing to learn"]
VERDICTS: Final = ("trained", "collapsed", "nothing to learn")

_CLEARLY = 0.97  # a fit has learnt something when its loss is below this share of the trivial one
_FAR = 30.0  # how long free vectors are when the levels release them; a trained X^0 has a length of about 5


@dataclass(frozen=True)
class Embedding:
    """Vectors of one network and what is known of their fit.

    `ids` are the accounts' names; `vectors` float32 [n, d]; `losses` one a step; `trivial` the loss of vectors that
    say nothing; `auc` how well the edges left out are told from non-edges, None where none were left out; `steps` how
    many the vectors took, the last `released` of them without the levels; `hypergraph` what the hyperedges were like;
    `gates` how much of the simple and of the hypergraph level's output goes on, a mean over accounts, where learned.
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

    @property
    def trained(self) -> bool:
        """Whether the fit may be used: it is clearly better than saying nothing."""
        return self.verdict == "trained"


def judge(losses: FloatArray, trivial: float, auc: float | None, vectors: FloatArray) -> Verdict:
    """`trained` only if the loss ended clearly below the trivial one, vectors differ, and the AUC is above chance."""
    if len(losses) == 0:
        return "nothing to learn"
    ended = float(np.mean(losses[-10:]))
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
) -> Embedding:
    """Vectors of one network by MGCN (Eq. 1-10), with `config.mgcn` and `config.hypergraph`.

    `progress(step, loss, trivial loss)` is called after each step. A `hypergraph` of one's own takes the place of the
    built ones, for training and final vectors alike; `features` [n, f] are needed for `start = "given"`, `anchors`
    (accounts of this network) for the anchor hypergraph. `X0` [n, d] is where X^0 of `start = "free"` begins, in place
    of a random draw.
    """
    settings = config.mgcn
    if features is not None:
        features = _check_features(features, network.n)
    if settings.start == "given" and features is None:
        raise KedgeError("mgcn.start = given needs features", remedy="pass features=, one row an account")
    weights = trivial_loss(settings.weighing, settings.negatives, bias=settings.unit)
    if network.edges == 0:
        nothing = np.zeros((network.n, settings.dimensions), np.float32)
        return Embedding(network.ids, nothing, np.empty(0, np.float32), weights, None, "nothing to learn", 0)
    hold_memory()
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    asked = settings.held_out if settings.stop != "never" else 0.0
    holdout = hold_out(network, asked, np.random.default_rng(seeds[0])) if asked else None
    seen = network if holdout is None else holdout.network

    def run(part: Network, judge_by: Holdout | None, steps: int, released: int) -> Embedding:
        drawn = build_hypergraph(part, config.hypergraph, seeds[1], anchors) if hypergraph is None else hypergraph
        if (said := report(drawn)).warning:
            warnings.warn(said.warning, DegenerateHypergraphWarning, stacklevel=3)
        start = _start(part, settings, config.hypergraph.latent_steps, features, seeds[2])
        if X0 is not None and settings.start == "free":
            start = torch.from_numpy(np.array(X0, np.float32))
        fit = _fit(part, drawn, settings, start, judge_by, steps, seeds[2], weights, progress)
        if released and fit.trained:
            fit = _release(fit, part, drawn, settings, judge_by, released, seeds[2], progress)
        return replace(fit, hypergraph=said)

    # Only against edges left out can be told whether vectors gain by leaving the levels; given features are no start.
    released = settings.release if holdout is not None and settings.start == "free" else 0
    first = run(seen, holdout, settings.steps, released)
    if holdout is None or not settings.refit or not first.trained:
        return first
    # The edges left out have told how many steps to take; now they may be learnt from too.
    again = run(network, None, first.steps - first.released, first.released)
    return replace(again, auc=first.auc, checks=first.checks)


def _check_features(features: FloatArray, n: int) -> FloatArray:
    array = np.asarray(features, np.float32)
    if array.ndim != 2 or array.shape[0] != n or array.shape[1] == 0:
        raise KedgeError(f"features have shape {list(array.shape)}", remedy=f"give one row for each of {n:,} accounts")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise KedgeError(f"features of account {row} hold NaN or infinity", remedy="fill them in, e.g. with 0")
    return array


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


def _fit(
    network: Network,
    hypergraph: Hypergraph,
    settings: MgcnConfig,
    start: Tensor,
    holdout: Holdout | None,
    steps: int,
    seed: int,
    trivial: float,
    progress: Progress | None,
) -> Embedding:
    """Adam on the pooled Eq. 10; the vectors of the best look at the edges left out, or of the last step."""
    draws, drops = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 2)
    model = Mgcn(prepare(network, hypergraph, settings), settings, start, draws)
    edges, noise = Edges.of(network), noise_weights(network)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = Adam(parameters, settings.learning_rate)
    losses: list[float] = []
    checks: list[tuple[int, float]] = []
    best: tuple[float, int, FloatArray, tuple[float, float] | None] | None = None
    for step in range(1, steps + 1):
        seen = hide(edges.count, settings, drops)
        X = model(drops, seen)
        pool = torch.multinomial(noise, settings.pool, replacement=True, generator=draws)
        chosen = None if seen is None else 1 - seen[:-1]
        loss = pooled_loss(X, model.bias, edges, pool, settings.weighing, settings.negatives, chosen)
        value = loss.item()
        if not math.isfinite(value):
            raise KedgeError(f"the loss is no number at step {step}", remedy="lower mgcn.learning_rate")
        loss.backward()  # type: ignore[no-untyped-call]
        length = torch.nn.utils.clip_grad_norm_(parameters, settings.clip)
        if not torch.isfinite(length):
            raise KedgeError(f"the gradient is no number at step {step}", remedy="lower mgcn.learning_rate")
        optimiser.step()
        losses.append(value)
        if progress is not None:
            progress(step, value, trivial)
        if holdout is not None and (step % settings.check_every == 0 or step == steps):
            X_now = _vectors(model, network)
            auc = area_under_curve(score_pairs(X_now, holdout.edges), score_pairs(X_now, holdout.non_edges))
            checks.append((step, auc))
            if best is None or auc > best[0]:
                best = (auc, step, X_now, _gates(model))
            elif step - best[1] >= settings.patience * settings.check_every:
                break
    auc_found, taken, vectors, gates = best or (None, len(losses), _vectors(model, network), _gates(model))
    curve = np.asarray(losses, np.float32)
    verdict = judge(curve[:taken], trivial, auc_found, vectors)
    return Embedding(network.ids, vectors, curve, trivial, auc_found, verdict, taken, tuple(checks), gates=gates)


def _release(
    fit: Embedding,
    network: Network,
    hypergraph: Hypergraph,
    settings: MgcnConfig,
    holdout: Holdout | None,
    steps: int,
    seed: int,
    progress: Progress | None,
) -> Embedding:
    """The vectors as free ones, trained on without the levels; the fit as it was where the edges left out do not gain.

    The levels make neighbours alike: good where edges are few or noisy, a bound where each account has edges enough.
    """
    taken = fit.steps
    # Far from 0 vectors turn slowly under Adam's steps: what the levels found is not lost at once.
    lengths = np.linalg.norm(fit.vectors, axis=1, keepdims=True)
    scale = _FAR / np.maximum(lengths, 1e-12) if settings.unit else 1.0
    alone = settings.model_copy(update={"levels": "none", "drop_edges": 0.0})
    start = torch.from_numpy((fit.vectors * scale).astype(np.float32))

    def tell(step: int, loss: float, trivial: float) -> None:
        if progress is not None:
            progress(len(fit.losses) + step, loss, trivial)

    free = _fit(network, hypergraph, alone, start, holdout, steps, seed + 3, fit.trivial, tell)
    if not free.trained or (fit.auc is not None and free.auc is not None and free.auc <= fit.auc):
        return fit
    checks = [(step, auc) for step, auc in fit.checks if step <= taken]
    checks += [(taken + step, auc) for step, auc in free.checks]
    losses = np.concatenate([fit.losses[:taken], free.losses])
    kept = replace(free, losses=losses, checks=tuple(checks), gates=fit.gates)
    return replace(kept, steps=taken + free.steps, released=free.steps)


def hide(edges: int, settings: MgcnConfig, generator: torch.Generator) -> Tensor | None:
    """0 for the edges that this step hides, 1 for the others and, last, for entries of no edge."""
    if settings.drop_edges == 0 or settings.levels == "none":
        return None
    seen = (torch.rand(edges + 1, generator=generator) >= settings.drop_edges).float()
    seen[-1] = 1.0
    return seen if seen[:-1].sum() < edges else None


def _gates(model: Mgcn) -> tuple[float, float] | None:
    if not model.gates.requires_grad:
        return None
    return model.open(0).mean().item(), model.open(1).mean().item()


def _vectors(model: Mgcn, network: Network) -> FloatArray:
    """X^K as it stands; an account without edges has learnt nothing, so a free one is 0, not its random draw."""
    with torch.no_grad():
        X = model().numpy().copy()
    if model.config.start == "free":
        X[network.degrees == 0] = 0.0
    vectors: FloatArray = X
    return vectors
