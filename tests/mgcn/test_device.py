"""The torch form of the training: the same numbers as the compiled one, and nothing in it that needs the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from graphs import communities

from kedge.config import MgcnConfig, resolve
from kedge.errors import KedgeError
from kedge.hypergraph import build_hypergraph
from kedge.mgcn import embed, train
from kedge.mgcn.adam import Adam
from kedge.mgcn.device import find_device, move_by_adam, place
from kedge.mgcn.edge_dropout import draw_kept
from kedge.mgcn.model import Mgcn, prepare
from kedge.mgcn.objective import Edges, Sample, noise_distribution, pooled_loss

NETWORK = communities(60, 4, 0.4, 0.03, 0)
KINDS = {
    "default": [],
    "sum": ["mgcn.fusion=sum", "mgcn.transform=true", "mgcn.activation=relu", "mgcn.drop_hyperedges=0.2"],
    "basis": ["mgcn.fusion=basis", "mgcn.activation=tanh", "mgcn.gate=fixed", "mgcn.unit=false"],
    "concat": ["mgcn.fusion=concat", "mgcn.transform=true", "hypergraph.builders=centrality", "mgcn.drop_output=0.1"],
}


def config_of(kind: str) -> Any:
    return resolve(assignments=["mgcn.dimensions=6", "mgcn.pool=16", "mgcn.steps=12", "mgcn.stop=never", *KINDS[kind]])


def one_step(settings: MgcnConfig, hypergraph: Any, device: torch.device | None) -> tuple[Any, list[Any]]:
    """The loss of one step and the parameters after it."""
    draws, drops = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    start = torch.randn(NETWORK.n, settings.dimensions, generator=draws)
    model = Mgcn(prepare(NETWORK, hypergraph, settings), settings, start, draws)
    edges, noise = Edges.of(NETWORK), noise_distribution(NETWORK)
    kept = draw_kept(edges.count, settings, drops)
    pool = torch.multinomial(noise, settings.pool, replacement=True, generator=draws)
    if device is not None:
        model, edges, pool = model.moved(device), place(edges, device), pool.to(device)
        kept = None if kept is None else kept.to(device)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = Adam(parameters, 0.05)
    loss = pooled_loss(
        model(drops, kept), model.bias, edges, Sample(pool, 1.0, None if kept is None else 1 - kept[:-1])
    )
    loss.backward()
    optimiser.step()
    return loss, parameters


@pytest.mark.parametrize("kind", KINDS)
def test_the_torch_form_gives_the_numbers_of_the_compiled_one(kind: str) -> None:
    config = config_of(kind)
    hypergraph = build_hypergraph(NETWORK, config.hypergraph, 0)
    compiled, torch_form = (one_step(config.mgcn, hypergraph, d) for d in (None, torch.device("cpu")))
    torch.testing.assert_close(torch_form[0], compiled[0], atol=1e-5, rtol=1e-5)
    for one, other in zip(torch_form[1], compiled[1], strict=True):
        # Adam divides a gradient by its own size: one that is rounding alone may have either sign.
        assert (one - other).abs().gt(1e-3).float().mean() < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_no_step_of_the_torch_form_needs_the_cpu(kind: str) -> None:
    """On torch's meta device tensors have no data: whatever would read them, or mix them with the CPU's, fails."""
    config = config_of(kind)
    loss, parameters = one_step(config.mgcn, build_hypergraph(NETWORK, config.hypergraph, 0), torch.device("meta"))
    assert loss.device.type == "meta"
    assert all(parameter.device.type == "meta" for parameter in parameters)


def test_a_whole_training_by_the_torch_form(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of("default")
    whole = embed(NETWORK, config, 0)
    monkeypatch.setattr(train, "find_device", lambda _: torch.device("cpu"))
    other = embed(NETWORK, config, 0)
    np.testing.assert_allclose(other.losses, whole.losses, atol=1e-3)


def test_adam_without_compiled_loops_is_adam() -> None:
    rng = np.random.default_rng(0)
    p, g = (torch.from_numpy(rng.normal(size=20).astype(np.float32)) for _ in range(2))
    compiled = p.clone().requires_grad_()
    compiled.grad = g.clone()
    Adam([compiled], 0.1).step()
    moved = p.clone()
    move_by_adam(moved, g, torch.zeros(20), torch.zeros(20), 0.1 / (1 - 0.9), 1 / np.sqrt(1 - 0.999))
    torch.testing.assert_close(moved, compiled.detach())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_a_device_that_is_not_there_is_refused_and_auto_takes_the_cpu() -> None:
    assert find_device("auto") is None
    assert find_device("cpu") is None
    with pytest.raises(KedgeError, match="torch finds no such device"):
        find_device("cuda")
