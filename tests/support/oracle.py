"""Every equation of the paper, dense and loop by loop: what the fast code must agree with.

Nothing here is clever or fast. Matrices are float64 arrays; A is the n × n adjacency, H the n × m incidence.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def activate(name: str, x: float) -> float:
    return {"relu": max(0.0, x), "tanh": math.tanh(x), "none": x}[name]


def a_hat(A: NDArray[Any]) -> NDArray[Any]:
    """Â = I + D^-1/2 A D^-1/2."""
    n = len(A)
    out = np.eye(n)
    for i in range(n):
        for j in range(n):
            if A[i, j]:
                out[i, j] += A[i, j] / math.sqrt(A[i].sum() * A[j].sum())
    return out


def s_e(H: NDArray[Any], e: int) -> NDArray[Any]:
    """Eq. 2: the diagonal matrix of p(v, e)."""
    n = len(H)
    out = np.zeros((n, n))
    for v in range(n):
        out[v, v] = H[v, e]
    return out


def a_e(A: NDArray[Any], H: NDArray[Any], e: int) -> NDArray[Any]:
    """Eq. 3: A_e = S_e Â S_e."""
    return s_e(H, e) @ a_hat(A) @ s_e(H, e)


def within(
    A: NDArray[Any], H: NDArray[Any], e: int, X: NDArray[Any], W: NDArray[Any], activation: str = "relu"
) -> NDArray[Any]:
    """Eq. 1: σ(A_e X W), entry by entry."""
    Z = a_e(A, H, e) @ X @ W
    return np.array([[activate(activation, z) for z in row] for row in Z])


def fuse(
    A: NDArray[Any], H: NDArray[Any], X: NDArray[Any], W: NDArray[Any], F: NDArray[Any], activation: str = "relu"
) -> NDArray[Any]:
    """Eq. 4: the concatenation of every hyperedge's output times one tall dense layer, F [m, d, d] stacked."""
    wide = np.concatenate([within(A, H, e, X, W, activation) for e in range(H.shape[1])], axis=1)
    return wide @ np.concatenate(list(F), axis=0)


def incidence(members: Any, n: int, p: Any) -> NDArray[Any]:
    """Eq. 5: H(v, e) = p(v, e) if v in e, else 0; `members` a set for each hyperedge."""
    H = np.zeros((n, len(members)))
    for e, inside in enumerate(members):
        for v in inside:
            H[v, e] = p(v, e)
    return H


def shared_values(held: list[set[Any]], largest: int, most: int) -> NDArray[Any]:
    """Profile hyperedges (Eq. 5): H of the values that each account has, a column for each value in order."""
    n, values = len(held), sorted({value for own in held for value in own})
    size = {value: sum(value in own for own in held) for value in values}
    joins = [value for value in values if 2 <= size[value] <= min(largest, n - 1)]
    rarest = [sorted((v for v in own if v in joins), key=lambda v: (size[v], values.index(v)))[:most] for own in held]
    columns = []
    for value in joins:
        members = [account for account in range(n) if value in rarest[account]]
        if len(members) >= 2:
            columns.append([math.log(n / len(members)) / math.log(n / 2) * (a in members) for a in range(n)])
    return np.array(columns).reshape(len(columns), n).T


def node_degrees(H: NDArray[Any]) -> NDArray[Any]:
    return np.array([sum(H[v, e] for e in range(H.shape[1])) for v in range(H.shape[0])])


def edge_degrees(H: NDArray[Any]) -> NDArray[Any]:
    return np.array([sum(H[v, e] for v in range(H.shape[0])) for e in range(H.shape[1])])


def a_h(H: NDArray[Any]) -> NDArray[Any]:
    """Eq. 6: A_h = H Hᵀ - D_n."""
    n, m = H.shape
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for e in range(m):
                out[i, j] += H[i, e] * H[j, e]
        out[i, i] -= node_degrees(H)[i]
    return out


def gcn(A: NDArray[Any], X: NDArray[Any], W: NDArray[Any], activation: str = "relu") -> NDArray[Any]:
    """Eq. 7: σ((I + D^-1/2 A D^-1/2) X W)."""
    return np.array([[activate(activation, z) for z in row] for row in a_hat(A) @ X @ W])


def hypergraph_layer(H: NDArray[Any], X: NDArray[Any], W: NDArray[Any], activation: str = "relu") -> NDArray[Any]:
    """Eq. 8, first line: σ((I + D_n^-1/2 A_h D_n^-1/2) X W); an account in no hyperedge takes nothing."""
    n = len(H)
    degrees = node_degrees(H)
    M = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if degrees[i] > 0 and degrees[j] > 0:
                M[i, j] = (i == j) + a_h(H)[i, j] / math.sqrt(degrees[i] * degrees[j])
    return np.array([[activate(activation, z) for z in row] for row in M @ X @ W])


def theta(H: NDArray[Any], normalisation: str = "paper") -> NDArray[Any]:
    """Eq. 9: Θ = D_n^-1/2 H Hᵀ D_n^-1/2; `edge` has D_e^-1 in the middle."""
    n, m = H.shape
    nodes, edges = node_degrees(H), edge_degrees(H)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for e in range(m):
                if H[i, e] * H[j, e] > 0:
                    weight = 1.0 if normalisation == "paper" else 1 / edges[e]
                    out[i, j] += H[i, e] * weight * H[j, e] / math.sqrt(nodes[i] * nodes[j])
    return out


def noise(A: NDArray[Any]) -> NDArray[Any]:
    """P(v) ∝ d_v^0.75."""
    degrees = np.array([(row != 0).sum() for row in A], float) ** 0.75
    return degrees / degrees.sum()


def objective(A: NDArray[Any], X: NDArray[Any], M: NDArray[Any], bias: float = 0.0, weighing: str = "paper") -> Any:
    """Eq. 10 with its expectations in full, as a loss an edge: -O / |E|. `mean` weighs the noise 1 instead of 2M."""
    P, n = noise(A), len(A)
    total, edges = 0.0, 0
    factor = 1.0 if weighing == "paper" else 1 / (2 * M)
    for i in range(n):
        for j in range(i + 1, n):
            if A[i, j] == 0:
                continue
            edges += 1
            total += math.log(sigmoid(X[i] @ X[j] + bias))
            for end in (i, j):
                for _ in range(M):
                    for k in range(n):
                        total += factor * P[k] * math.log(1 - sigmoid(X[end] @ X[k] + bias))
    return -total / edges


def project_by_steps(
    X1: NDArray[Any], X2: NDArray[Any], anchors: NDArray[Any], ridge: float, steps: int = 20000
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eq. 11 by gradient descent: Γ and b of the least squares between anchors, with ridge · |Γ|² beside it."""
    targets, sources = X1[anchors[:, 0]], X2[anchors[:, 1]]
    Gamma, b = np.zeros((X2.shape[1], X1.shape[1])), np.zeros(X1.shape[1])
    wide = np.concatenate([sources, np.ones((len(sources), 1))], axis=1)
    rate = 1 / (np.linalg.norm(wide, 2) ** 2 + ridge)
    for _ in range(steps):
        error = sources @ Gamma + b - targets
        Gamma -= rate * (sources.T @ error + ridge * Gamma)
        b -= rate * error.sum(axis=0)
    return Gamma, b


def ball(A: NDArray[Any], centre: int, hops: int) -> Any:
    """The accounts within `hops` of the centre."""
    inside = {centre}
    for _ in range(hops):
        inside |= {j for i in inside for j in range(len(A)) if A[i, j]}
    return inside


def personalised_pagerank(A: NDArray[Any], centre: int, hops: int, restart: float) -> NDArray[Any]:
    """π = Σ_t restart (1 - restart)^t P^t e_centre over t = 0..hops, where P spreads by weight."""
    n = len(A)
    mass, total = np.zeros(n), np.zeros(n)
    mass[centre] = 1
    for t in range(hops + 1):
        total += restart * (1 - restart) ** t * mass
        spread = np.zeros(n)
        for i in range(n):
            for j in range(n):
                if A[i, j]:
                    spread[j] += mass[i] * A[i, j] / A[i].sum()
        mass = spread
    return total


def pair_network(form: Any, x: NDArray[Any], y: NDArray[Any], network: Any) -> Any:
    """z + log r of section 2.6: relu(φ W_1 + b_1) W_2 + b_2, with φ the pair's columns, each scaled."""
    if form == "concat":
        phi = [float(a) for a in x] + [float(b) for b in y]
    else:
        phi = [abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)]
        phi += [float(a) * float(b) for a, b in zip(x, y, strict=True)]
        length = math.sqrt(sum(float(a) ** 2 for a in x)) * math.sqrt(sum(float(b) ** 2 for b in y))
        phi.append(sum(float(a) * float(b) for a, b in zip(x, y, strict=True)) / length)
    phi = [(value - network.middle[i]) / network.spread[i] for i, value in enumerate(phi)]
    z = network.b_2 + network.base
    for h in range(len(network.b_1)):
        hidden = network.b_1[h] + sum(phi[i] * network.W_1[i, h] for i in range(len(phi)))
        z += max(0.0, hidden) * network.W_2[h]
    return z


def pair_cross_entropy(network: Any, examples: Any) -> Any:
    """The mean cross-entropy of a pair network over examples."""
    total = 0.0
    for x, y, matched in zip(examples.left, examples.right, examples.matched, strict=True):
        p = sigmoid(pair_network(network.form, x, y, network) - network.base)
        total -= math.log(p if matched else 1 - p)
    return total / len(examples.matched)


def gate(A: np.ndarray, X: np.ndarray, Y: np.ndarray, a: float, b: float) -> np.ndarray:
    """What a level hands on of its input X and its output Y, account by account."""
    logs = [math.log(max(1, int(np.count_nonzero(row)))) for row in A]
    out = np.empty_like(Y)
    for v, log in enumerate(logs):
        g = 1 / (1 + np.exp(-(a + b * (log - sum(logs) / len(logs)))))
        out[v] = (1 - g) * X[v] + g * Y[v]
    return out


def shared_coordinates(
    A: NDArray[Any], accounts: list[int], walk: tuple[float, int], own: float, contrast: float, degree: float
) -> NDArray[Any]:
    """The vectors [X_s, X_h, w z] of embedding/coordinates.py as dense unit rows; `walk` is (restart, hops)."""
    n = len(A)
    strength = A.sum(axis=1)
    S = a_hat(A) - np.eye(n)
    restart, hops = walk
    H = np.zeros((n, n))
    for centre in range(n):
        place = np.eye(n)[centre]
        for step in range(hops + 1):
            H[:, centre] += restart * (1 - restart) ** step * place
            place = np.array([sum(place[u] * A[u, v] / strength[u] for u in range(n) if A[u, v]) for v in range(n)])
        H[:, centre] = np.minimum(H[:, centre] / H[centre, centre], 1)
    levels = [own * np.eye(n) + (1 - own) * S, H / np.sqrt(np.maximum(strength, 1e-300))[:, None]]
    columns = []
    for level in levels:
        X = np.zeros((n, len(accounts)))
        for e, account in enumerate(accounts):
            mean = sum(level[v, account] for v in range(n)) / n
            for v in range(n):
                X[v, e] = math.log(contrast + level[v, account] / mean)
        columns.append(X / np.linalg.norm(X, axis=1)[:, None])
    z = np.log1p((A > 0).sum(axis=1))
    columns.append(degree * ((z - z.mean()) / z.std())[:, None])
    whole = np.hstack(columns)
    return whole / np.linalg.norm(whole, axis=1)[:, None]
