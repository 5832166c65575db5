"""The layers of methods that are trained on edges, each against loops on networks of a few accounts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from graphs import communities
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.embedding.plan import Source
from kedge.errors import KedgeError
from kedge.methods import dhgnn, hypergcn
from kedge.methods.shared.edge_training import draw_first, train_on_edges
from kedge.types import FloatArray

# HyperGCN.


@pytest.mark.parametrize("exact", [64, 2], ids=["all pairs", "from the mean"])
def test_hyperedges_become_their_farthest_pair_and_its_mediators(monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    """Ā of HyperGCN by loops over hyperedges, pairs and mediators; sizes from 0 to 6."""
    monkeypatch.setattr(hypergcn, "_EXACT", exact)
    rng = np.random.default_rng(1)
    S = rng.normal(size=(9, 3)).astype(np.float32)
    edges = [[], [4], [0, 7], [1, 2, 3], [0, 2, 4, 5, 6, 8], [3, 5, 6, 7]]
    A = np.zeros((9, 9))
    for e in edges:
        if len(e) < 2:
            continue
        apart = {(i, j): float(((S[i] - S[j]) ** 2).sum()) for i, j in combinations(e, 2)}
        i, j = max(apart, key=apart.__getitem__)
        if len(e) > exact:
            middle = S[e].mean(axis=0)
            i = max(e, key=lambda v: ((S[v] - middle) ** 2).sum())
            j = max(e, key=lambda v: ((S[v] - S[i]) ** 2).sum())
        for u, v in [(i, j), *((end, v) for end in (i, j) for v in e if v not in (i, j))]:
            A[u, v] += 1 / (2 * len(e) - 3)
            A[v, u] += 1 / (2 * len(e) - 3)
    A += np.eye(9)
    expected = np.array([[A[u, v] / np.sqrt(A[u].sum() * A[v].sum()) for v in range(9)] for u in range(9)])
    rows = np.repeat(np.arange(len(edges)), [len(e) for e in edges])
    members = csr_array((np.ones(len(rows)), (rows, np.concatenate(edges).astype(int))), shape=(len(edges), 9))
    np.testing.assert_allclose(hypergcn.approximate(members, S).toarray(), expected, atol=1e-6)


def test_the_layers_of_hypergcn_convolve_over_graphs_of_their_own_signals() -> None:
    members = csr_array((np.random.default_rng(0).random((12, 10)) < 0.4).astype(np.float64))
    model = hypergcn.HyperGcn(members, 4, torch.Generator().manual_seed(0)).eval()
    with torch.no_grad():
        model.biases[0][:] = torch.tensor([0.1, -0.2, 0.3, 0.0])
        found = model().numpy()
    X, Theta, b = (p.detach().numpy() for p in (model.first, model.second, model.biases[0]))
    hidden = np.maximum(hypergcn.approximate(members, X).toarray() @ X + b, 0) @ Theta
    np.testing.assert_allclose(found, hypergcn.approximate(members, hidden).toarray() @ hidden, atol=1e-5)


def test_graphs_of_hypergcn_are_made_anew_every_ten_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(hypergcn, "approximate", lambda members, S: made.append(S) or csr_array(np.eye(len(S))))
    model = hypergcn.HyperGcn(csr_array(np.ones((2, 5))), 3, torch.Generator().manual_seed(0))
    for _ in range(11):
        model()
    assert len(made) == 4, "two layers, at the first step and at the eleventh"
    model.eval()
    model()
    assert len(made) == 6, "the final vectors have graphs of the final signals"


# Dynamic hypergraph networks.


def softmax(x: FloatArray) -> FloatArray:
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def test_vertex_and_hyperedge_convolution_of_dhgnn_account_by_account() -> None:
    torch.manual_seed(0)
    network, k, d = communities(14, 2, 0.5, 0.1, 0), 10, 8
    model = dhgnn.Dhgnn(network, d, torch.Generator().manual_seed(1)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape), alpha=0.1)
        found = model().numpy()
    first = np.maximum(model.first.detach().numpy(), 0)
    A = network.adjacency.toarray() > 0
    X = np.array([first[[v, *np.flatnonzero(A[v])]].mean(axis=0) for v in range(14)])
    weighing = [p.detach().numpy() for p in (model.weighing.V_1, model.weighing.v_1, model.weighing.V_2)]
    for v in range(14):
        edges, scores = [], []
        for mix, members in zip(model.mixing, model.members, strict=True):
            P, p, w, w_0 = (value.detach().numpy() for value in (mix.P, mix.p, mix.w, mix.w_0))
            x = X[members[v].numpy()]
            T = np.array([softmax(x[i] @ P[i] + p[i]) for i in range(k)])
            h = sum(w[i] * sum(T[i, j] * x[j] for j in range(k)) for i in range(k)) + w_0
            edges.append(h)
            scores.append(float((np.maximum(h @ weighing[0] + weighing[1], 0) @ weighing[2])[0]))
        z = sum(share * h for share, h in zip(softmax(np.array(scores)), edges, strict=True))
        expected = z @ model.last.detach().numpy() + model.bias.detach().numpy()
        np.testing.assert_allclose(found[v], expected, atol=1e-4)


def test_hyperedges_of_dhgnn_are_the_nearest_the_cluster_and_the_neighbours() -> None:
    network = communities(60, 3, 0.3, 0.02, 0)
    model = dhgnn.Dhgnn(network, 6, torch.Generator().manual_seed(1))
    rng = np.random.default_rng(0)
    group = np.arange(60) % 6
    X = (np.eye(6)[group] * 5 + rng.normal(size=(60, 6)) * 0.1).astype(np.float32)
    near, inside, beside = model._draw(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for v in range(60):
        cosines = unit @ unit[v]
        assert set(near[v]) == set(np.argsort(-cosines)[:10].tolist())
        assert set(group[inside[v]]) == {group[v]}
        assert set(beside[v]) <= {v, *np.flatnonzero(network.adjacency.toarray()[v])}
    assert len(set(np.concatenate([inside[0], inside[6]]).tolist())) > 2


def test_k_means_round_by_round() -> None:
    """From the same drawn rows; one row is far away, so that a cluster may lose all others."""
    X = np.random.default_rng(2).normal(size=(50, 3))
    X[7] += 100
    centres = X[np.random.default_rng(0).choice(50, 6, replace=False)].copy()

    def own() -> list[int]:
        return [min(range(6), key=lambda c: ((x - centres[c]) ** 2).sum()) for x in X]

    for _ in range(10):
        labels = own()
        for c in range(6):
            if c in labels:
                centres[c] = np.mean([x for x, label in zip(X, labels, strict=True) if label == c], axis=0)
    assert dhgnn.cluster(X, 6, np.random.default_rng(0)).tolist() == own()


def test_hyperedges_are_drawn_anew_and_too_large_networks_refused() -> None:
    model = dhgnn.Dhgnn(communities(40, 4, 0.5, 0.02, 0), 8, torch.Generator().manual_seed(0))
    seen = []
    for _ in range(21):
        model()
        seen.append(model.members[0])
    assert all(members is seen[0] for members in seen[:20])
    assert seen[20] is not seen[0]
    with pytest.raises(KedgeError, match=r"^dhgnn compares .* 40 accounts are 1,600 cells, above 1,599; use hgnn"):
        dhgnn.refuse_too_many(40, 1599)
    dhgnn.refuse_too_many(40, 1600)


def test_training_on_edges_brings_neighbours_together_and_refuses_a_collapsed_fit() -> None:
    source = Source(communities(40, 4, 0.5, 0.02, 0), np.empty(0, np.int64), 0)
    config = Config.model_validate({"baselines": {"dimensions": 8, "steps": 60}, "mgcn": {"pool": 64}})

    class Free(torch.nn.Module):
        def __init__(self, source: Source, generator: torch.Generator) -> None:
            super().__init__()
            self.X = draw_first(source.network.n, 8, generator)

        def forward(self) -> torch.Tensor:
            return self.X

    X = train_on_edges("free", source, config, Free)
    linked = source.network.adjacency.toarray() > 0
    cosines = X @ X.T / (X[0] @ X[0])
    assert cosines[linked].mean() > cosines[~linked].mean() + 0.3
    still = config.model_copy(update={"baselines": config.baselines.model_copy(update={"learning_rate": 1e-9})})
    with pytest.raises(KedgeError, match=r"^free's embedding of the network collapsed .*; take more baselines.steps"):
        train_on_edges("free", source, still, Free)
