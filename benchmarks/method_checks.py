"""Embedding methods beside public implementations of the same methods, on shared pairs.

    python benchmarks/method_checks.py --peer-python PYTHON [--line PROGRAM] [--authors FOLDER] [--pairs arenas95,cora]

The vectors of a public implementation go the same way to pairs as kedge's own (`kedge.similarity.align_vectors`), with
kedge's settings, so that only the vectors differ. PYTHON has gensim, node2vec, scikit-learn and nxt-gem installed;
PROGRAM is `line` of the authors' repository (tangjianpku/LINE); FOLDER has the repositories malllabiisc/HyperGCN and
iMoonLab/DHGNN as `HyperGCN` and `DHGNN`: their layers are compared number by number, since both classify labelled
documents and accounts have no labels. What is not given is not compared. Figures are means over both directions on the
split off20 or r20_s0. CPU seconds are of both networks' vectors and the pairs, one thread.

With KEDGE_KEEP=1 rows are kept in docs/results/method_checks.json, in the place of earlier ones of the same method and
pair, and the table of docs/methods.md is made of all that are kept (`--table` makes it and measures nothing).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "results" / "method_checks.json"
PAGE = ROOT / "docs" / "methods.md"
BEGIN, END = "<!-- begin: made by benchmarks/method_checks.py -->\n", "<!-- end -->\n"
BIASED = {"walk_return": 0.25, "walk_outward": 4.0}  # with the defaults, 1 and 1, node2vec's walks are deepwalk's
PEERS = {
    "node2vec": "node2vec 0.5 and gensim",
    "line": "the authors' program",
    "spectral": "scikit-learn, SpectralEmbedding",
    "mds": "scikit-learn, ClassicalMDS",
    "graph-factorisation": "GEM (nxt-gem), GraphFactorization",
}
LAYERS = {"hypergcn": "the authors' `Laplacian`", "dhgnn": "the authors' `VertexConv` and `EdgeConv`"}


# In the peer's own interpreter: numpy and the peer's libraries alone.


def embed_by_peer(method: str, edges: Any, n: int, settings: dict[str, Any], program: str) -> Any:
    """Vectors [n, d] by a public implementation."""
    d = settings["dimensions"]
    if method == "line":
        return _by_program(program, edges, n, settings)
    if method in ("spectral", "mds"):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path
        from sklearn.manifold import ClassicalMDS, SpectralEmbedding

        A = csr_array((np.ones(2 * len(edges)), (np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]])))
        if method == "spectral":
            return SpectralEmbedding(d, affinity="precomputed", random_state=0).fit_transform(A.toarray())
        far = shortest_path(A, unweighted=True)
        far[np.isinf(far)] = far[np.isfinite(far)].max() + 1
        return ClassicalMDS(d, metric="precomputed").fit_transform(far)
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    if method == "graph-factorisation":
        from gem.embedding.gf import GraphFactorization  # type: ignore[import-not-found]

        np.random.seed(0)
        return GraphFactorization(d=d, eta=0.1, regu=0.1, max_iter=settings["passes"], data_set="pair").learn_embedding(
            graph, no_python=False
        )
    from node2vec import Node2Vec  # type: ignore[import-not-found]

    model = Node2Vec(
        graph,
        dimensions=d,
        walk_length=settings["walk_length"],
        num_walks=settings["walks"],
        p=settings["walk_return"],
        q=settings["walk_outward"],
        workers=1,
        quiet=True,
        seed=0,
    ).fit(window=settings["window"], min_count=1, negative=settings["negatives"], epochs=1, workers=1)
    return np.array([model.wv[str(v)] for v in range(n)])


def _by_program(program: str, edges: Any, n: int, settings: dict[str, Any]) -> Any:
    """Both orders by the authors' program, each of length 1, next to each other."""
    halves = []
    with tempfile.TemporaryDirectory() as folder:
        both = np.concatenate([edges, edges[:, ::-1]])
        Path(folder, "net").write_text("".join(f"{u} {v} 1\n" for u, v in both.tolist()))
        millions = max(1, round(settings["passes"] * len(both) / 1e6))
        for order in ("1", "2"):
            options = {"train": "net", "output": "out", "size": settings["dimensions"], "order": order}
            options |= {"negative": settings["negatives"], "samples": millions}
            words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
            subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            X = np.zeros((n, settings["dimensions"]))
            for line in Path(folder, "out").read_text().splitlines()[1:]:
                account, *numbers = line.split()
                X[int(account)] = [float(number) for number in numbers]
            halves.append(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))
    return np.hstack(halves)


def serve_peer(method: str, folder: Path, program: str) -> None:
    """The vectors of the network in `folder` as a file there, and the CPU seconds that they took."""
    given = np.load(folder / "edges.npz")
    began = os.times()
    X = embed_by_peer(method, given["edges"], int(given["n"]), json.loads(str(given["settings"])), program)
    used = sum(os.times()[:4]) - sum(began[:4])  # with its children
    np.savez(folder / "vectors.npz", X=np.asarray(X, np.float32), cpu=used)


# In kedge's interpreter.


def peer_vectors(python: str, method: str, network: Any, settings: dict[str, Any], program: str) -> tuple[Any, float]:
    """The vectors of one network by the peer, 0 for accounts without edges, and their CPU seconds."""
    pairs = np.argwhere(np.triu(network.adjacency.toarray(), 1))
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder, "edges.npz"), edges=pairs, n=network.n, settings=json.dumps(settings))
        command = [python, __file__, "--serve", method, folder, program]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
        if done.returncode:
            raise SystemExit(f"{method} by its peer failed: {done.stderr.strip().splitlines()[-1]}")
        with np.load(Path(folder, "vectors.npz")) as made:
            X, cpu = made["X"], float(made["cpu"])
    X[network.degrees == 0] = 0
    return X, cpu


def stamp() -> str:
    """The date, and the newest commit of the code."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return f"{time.strftime('%Y-%m-%d', time.gmtime())}, {commit.stdout.strip()}"


def figures(alignment: Any, test: Any, cpu: float) -> dict[str, float]:
    from shared_pairs import mean_ranking

    found = mean_ranking(alignment, test)
    return {name: round(found[name], 4) for name in ("hits1", "hits10", "mrr")} | {"cpu": round(cpu, 1)}


def compare(pair: str, method: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One row: kedge's figures, and the peer's if there is one."""
    from shared_pairs import load

    from kedge.config import Config
    from kedge.context import one_blas_thread, spawn_seeds
    from kedge.methods import METHODS
    from kedge.similarity import align_vectors
    from kedge.types import Network, Problem

    config = Config.model_validate({"baselines": BIASED if method == "node2vec" else {}})
    split, problem, test = load(pair)
    groups = [(i, j) for i in range(80) for j in range(i) if i % 10 == j % 10 or i - j == 1]
    small = Network.from_edges(groups, 80)
    METHODS[method].align(Problem(small, small, np.array([(i, i) for i in range(20)])), config)  # loads kernels
    began = time.process_time()
    ours = METHODS[method].align(problem, config)
    row: dict[str, Any] = {"pair": pair, "split": split, "method": method, "measured": stamp()}
    row["kedge"] = figures(ours, test, time.process_time() - began)
    if method in PEERS and asked.peer_python and (method != "line" or asked.line):
        settings = config.baselines.model_dump(mode="json")
        sides = (problem.left, problem.right)
        made = [peer_vectors(asked.peer_python, method, side, settings, asked.line) for side in sides]
        began = time.process_time()
        with one_blas_thread():
            theirs = align_vectors(problem, made[0][0], made[1][0], config.pairing, spawn_seeds(config.seed)[2])
        row["peer"] = figures(theirs, test, time.process_time() - began + made[0][1] + made[1][1])
    if method in LAYERS and asked.authors:
        row["layer"] = {"hypergcn": hypergcn_layer, "dhgnn": dhgnn_layer}[method](problem.left, asked.authors)
    return row


def hypergcn_layer(network: Any, authors: Path) -> float:
    """The largest difference between Ā of kedge and of the authors, on the hyperedges of a network.

    Of one number per account: there the ends of the authors' random projection are the farthest pair.
    """
    from scipy.sparse import csr_array

    from kedge.config import HypergraphConfig
    from kedge.hypergraph import build_hypergraph
    from kedge.methods.hypergcn import approximate

    sys.path.insert(0, str(authors / "HyperGCN"))
    from model.utils import Laplacian  # type: ignore[import-not-found]

    H = csr_array(build_hypergraph(network, HypergraphConfig()).H.T.tocsr())
    signal = np.random.default_rng(0).normal(size=(network.n, 1)).astype(np.float32)
    rows = [H.indices[H.indptr[e] : H.indptr[e + 1]] for e in range(H.shape[0])]
    theirs = Laplacian(network.n, {e: row for e, row in enumerate(rows) if len(row) > 1}, signal, True)
    return float(np.abs(theirs.to_dense().numpy() - approximate(H, signal).toarray()).max())


def dhgnn_layer(network: Any, authors: Path) -> float:
    """The largest difference between the dynamic layer of kedge and of the authors, with the same weights."""
    import torch

    from kedge.methods.dhgnn import Dhgnn

    sys.path.insert(0, str(authors / "DHGNN"))
    from models.layers import EdgeConv, VertexConv  # type: ignore[import-not-found]

    d = 128
    model: Any = Dhgnn(network, d, torch.Generator().manual_seed(0)).eval()  # typed loosely: torch hides its modules
    weigh = EdgeConv(d, d // 4)
    with torch.no_grad():
        model()
        X = torch.randn(network.n, d, generator=torch.Generator().manual_seed(1))
        ours, theirs = [], []
        for mix, members in zip(model.mixing, model.members, strict=True):
            other = VertexConv(d, model.k)
            other.trans.convKK.weight.copy_(mix.P.transpose(1, 2).reshape(-1, 1, d))
            other.trans.convKK.bias.copy_(mix.p.reshape(-1))
            other.convK1.weight.copy_(mix.w[None, :, None])
            other.convK1.bias.copy_(mix.w_0[None])
            ours.append(mix(X, members))
            theirs.append(other(X[members]))
        weighing = model.weighing
        for mine, layer in (((weighing.V_1, weighing.v_1), weigh.fc[0]), ((weighing.V_2, weighing.v_2), weigh.fc[2])):
            layer.weight.copy_(mine[0].T)
            layer.bias.copy_(mine[1])
        return float((weighing(torch.stack(ours, 1)) - weigh(torch.stack(theirs, 1))).abs().max())


def table(rows: list[dict[str, Any]]) -> str:
    names = "pair, method, Hits@1, MRR, CPU s, compared with, its Hits@1, its MRR, its CPU s, measured".split(", ")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for row in rows:
        cells = [f"{row['kedge'][name]:.3f}" for name in ("hits1", "mrr")] + [f"{row['kedge']['cpu']:.1f}"]
        if "peer" in row:
            cells += [PEERS[row["method"]], *(f"{row['peer'][name]:.3f}" for name in ("hits1", "mrr"))]
            cells += [f"{row['peer']['cpu']:.1f}"]
        elif "layer" in row:
            cells += [f"{LAYERS[row['method']]}, largest difference {row['layer']:.0e}", "-", "-", "-"]
        else:
            cells += ["-"] * 4
        lines.append(f"| {row['pair']} | `{row['method']}` | {' | '.join(cells)} | {row['measured']} |")
    return "\n".join(lines)


def keep(row: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows that are kept, this one in the place of an earlier one."""
    rows = json.loads(KEPT.read_text())["rows"] if KEPT.exists() else []
    rows = [old for old in rows if (old["pair"], old["method"]) != (row["pair"], row["method"])] + [row]
    order = [*PEERS, *LAYERS]
    rows.sort(key=lambda one: (one["pair"], order.index(one["method"])))
    KEPT.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return rows


def section(rows: list[dict[str, Any]]) -> str:
    """What the page has between its marks, with them."""
    return f"{BEGIN}{table(rows)}\n{END}"


def write_page(rows: list[dict[str, Any]]) -> None:
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(before + section(rows) + rest.split(END, 1)[1], "utf-8")


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve_peer(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--line", default="")
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--pairs", default="arenas95,cora")
    parser.add_argument("--methods", default=",".join([*PEERS, *LAYERS]))
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    import warnings

    warnings.simplefilter("ignore")
    if asked.table:
        write_page(json.loads(KEPT.read_text())["rows"])
        return
    for pair in asked.pairs.split(","):
        for method in asked.methods.split(","):
            row = compare(pair, method, asked)
            print(json.dumps(row), flush=True)
            if os.environ.get("KEDGE_KEEP"):
                write_page(keep(row))


if __name__ == "__main__":
    main()
