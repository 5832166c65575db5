"""What goes into matching: hyperedges of one's own, from files and from Python; and what it will cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from command import kedge as call
from command import match_words
from kedge_problems import planted as kedge_problem
from scipy.sparse import csr_array

import kedge
from kedge.config import resolve
from kedge.errors import KedgeError
from kedge.ingest import estimate_cost, read_network
from kedge.methods import METHODS
from kedge.pipeline import count_refinements, load_outcome
from kedge.pipeline.inputs import forget_accounts
from kedge.store import DiskCache
from kedge.store.layout import EMBEDDINGS
from kedge.synthetic import anchor_table, edge_table, planted, split
from kedge.types import Hypergraph, Network, Problem

QUICK = {
    "mgcn.dimensions": 8,
    "baselines.dimensions": 8,
    "mgcn.steps": 25,
    "mgcn.held_out": 0,
    "decide.folds": 1,
    "mgcn.space": "projected",
}
WORDS = [word for name, value in QUICK.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture(scope="module")
def made() -> Any:
    return planted(150, 150, 130, 700, 700, 0.85, 1)


@pytest.fixture(scope="module")
def pair(made: Any) -> Any:
    train, _ = split(made.anchors, 0.5, 0)
    return *(edge_table(network).to_pandas() for network in (made.left, made.right)), anchor_table(
        made.left, made.right, train
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("own") / "data"
    call("synth", "-o", place, "--nodes", 150, "--overlap", 0.9, "--seed", 3, "-q")
    for side in ("left", "right"):
        write_groups(place / f"{side}.tsv", place / f"{side}-groups.csv")
    return place


def write_groups(network: Network, out: Any, p: float = 0.5) -> Any:
    """A hyperedge around each account: itself, and those it shares an edge with to a lesser degree."""
    edges = [line.split("\t")[:2] for line in network.read_text().splitlines()[1:]]
    rows = [f"{a},around {b},{p}" for u, v in edges for a, b in ((u, v), (v, u))]
    rows += [f"{name},around {name},1" for name in sorted({name for edge in edges for name in edge})]
    out.write_text("\n".join(["account,hyperedge,p", *rows, ""]))
    return out


def own_words(folder: Any) -> list[Any]:
    return ["--left-hypergraph", folder / "left-groups.csv", "--right-hypergraph", folder / "right-groups.csv"]


def around(network: Network) -> Any:
    """The same as a matrix."""
    return network.adjacency.toarray() / 2 + np.eye(network.n, dtype=np.float32)


def groups(network: Network) -> Any:
    """The same as a frame, hyperedge after hyperedge."""
    rows = [(network.name(u), f"around {v}", p) for (v, u), p in np.ndenumerate(around(network)) if p]
    return pandas.DataFrame(rows, columns=["account", "hyperedge", "p"])


@pytest.mark.filterwarnings("ignore:validation anchors are found no better")  # after so few steps
@pytest.mark.parametrize("method", ["mgcn", "hgnn", "hypergcn"])
def test_ones_own_hyperedges_take_the_place_of_the_built_ones(made: Any, pair: Any, method: str) -> None:
    settings = {**QUICK, "method": method}
    plain = kedge.match(*pair, settings=settings).to_frame()
    own = {"left_hypergraph": groups(made.left), "right_hypergraph": groups(made.right)}
    both = kedge.match(*pair, settings=settings, **own).to_frame()
    again = kedge.match(*pair, settings=settings, **own).to_frame()
    one = kedge.match(*pair, settings=settings, left_hypergraph=own["left_hypergraph"]).to_frame()
    pandas.testing.assert_frame_equal(both, again)
    for first, second in ((plain, both), (plain, one), (both, one)):
        assert not first["score"].equals(second["score"])


@pytest.mark.filterwarnings("ignore:validation anchors are found no better")  # after so few steps
def test_a_matrix_gives_the_same_as_rows(pair: Any) -> None:
    networks = [read_network(frame)[0] for frame in pair[:2]]
    settings = {**QUICK, "method": "mgcn"}
    frames, dense = [groups(network) for network in networks], [around(network) for network in networks]
    first = kedge.Linker(settings=settings).fit(pair[:2], pair[2], tuple(frames)).matches_.to_frame()
    for form in (csr_array, lambda matrix: Hypergraph(csr_array(matrix))):
        found = kedge.Linker(settings=settings).fit(pair[:2], pair[2], tuple(form(H) for H in dense))
        pandas.testing.assert_frame_equal(found.matches_.to_frame(), first)
    with pytest.raises(KedgeError, match="give one row for each account"):
        kedge.match(*pair, settings=settings, left_hypergraph=dense[0][:-1])


@pytest.mark.filterwarnings("ignore:validation anchors are found")
def test_accounts_that_only_anchors_name_have_no_row_in_a_matrix_and_may_stand_in_rows(made: Any, pair: Any) -> None:
    left, right, anchors = pair
    more = [*zip(*anchors.to_pydict().values(), strict=True), ("nobody yet", "nobody here")]
    settings = {**QUICK, "method": "mgcn"}
    kedge.match(left, right, more, settings=settings, left_hypergraph=around(read_network(left)[0]))
    rows = groups(made.left)
    rows.loc[len(rows)] = ("nobody yet", "around 0", 1.0)
    kedge.match(left, right, more, settings=settings, left_hypergraph=rows)


def test_methods_without_use_for_hyperedges_refuse_them(pair: Any, folder: Any, tmp_path: Path) -> None:
    idle = [name for name, method in METHODS.items() if not method.reads_hypergraphs]
    assert "evidence" in idle
    with pytest.raises(KedgeError, match="'isorank' has no use for a hypergraph"):
        kedge.match(*pair, settings={"method": "isorank"}, right_hypergraph=np.ones((3, 1)))
    words = match_words(folder, tmp_path / "run", *own_words(folder), "--method", "evidence")
    said = call(*words, code=2).stderr
    assert (
        "'evidence' has no use for a hypergraph; leave it out, or choose the method kedge, mgcn, hgnn or hypergcn"
        in said
    )
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_run_knows_its_hypergraphs(folder: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    mine = write_groups(folder / "left.tsv", tmp_path / "mine.csv")
    words = match_words(folder, out, "--method", "mgcn", *WORDS, "--left-hypergraph", mine, "--json")
    first = json.loads(call(*words).stdout)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["inputs"]["left hypergraph"]["name"] == "mine.csv"
    assert "right hypergraph" not in manifest["inputs"]
    again = json.loads(call(*words).stdout)["metrics"]
    assert all(again[name] == pytest.approx(first["metrics"][name]) for name in ("hits1", "mrr", "ece"))
    solution = load_outcome(out)
    config = solution.config
    left, right = solution.problem.hypergraphs
    assert left.hyperedges == (left.H.sum(axis=1) > 0).sum()
    assert right is None
    assert METHODS["mgcn"].trains_vectors(config)
    recalled = METHODS["mgcn"].recall_vectors(solution.problem, config, DiskCache(out / EMBEDDINGS, lambda _: None))
    assert recalled is not None, "the vectors are found again by what they were made of"
    write_groups(folder / "left.tsv", mine, p=0.4)
    said = call(*words, code=2).stderr
    assert "left hypergraph is another file" in said.splitlines()[-1]
    without = match_words(folder, out, "--method", "mgcn", *WORDS, "--json")
    assert "left hypergraph" in call(*without, code=2).stderr


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("account,hyperedge,p\n{0},a,1\n{1},a,7\n", ":3: p = 7 is outside [0, 1]; scale"),
        ("{0},a,1\nmallory,a,1\n", ":2: 'mallory' is no account of the network"),
        ("{0},a,1\n{1},a,often\n", ":2: "),
        ("", "is empty"),
    ],
)
def test_bad_rows_are_named_and_nothing_is_left_behind(folder: Any, tmp_path: Path, rows: str, words: str) -> None:
    names = (folder / "left.tsv").read_text().splitlines()[1].split("\t")
    bad = tmp_path / "bad.csv"
    bad.write_text(rows.format(*names))
    said = call(*match_words(folder, tmp_path / "run", "--left-hypergraph", bad, "-q"), code=2).stderr
    assert str(bad) in said
    assert words in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_purged_account_leaves_its_hyperedges(folder: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    call(*match_words(folder, out, "--method", "mgcn", *WORDS, *own_words(folder), "-q"))
    problem = load_outcome(out).problem
    account, name = 7, problem.left.name(7)
    its = problem.hypergraphs[0].H[[account]].nnz
    assert its > 0
    call("purge", "--yes", out, name, "--side", "left")
    after = load_outcome(out).problem
    assert after.hypergraphs[0].H[[account]].nnz == 0
    assert after.hypergraphs[0].H.nnz == problem.hypergraphs[0].H.nnz - its
    assert (after.hypergraphs[1].H != problem.hypergraphs[1].H).nnz == 0
    call(*match_words(folder, out, "--method", "mgcn", *WORDS, *own_words(folder), "-q"))
    assert load_outcome(out).problem.hypergraphs[0].H[[account]].nnz == 0


def test_a_problem_checks_its_hypergraphs_and_forgets_accounts_in_them() -> None:
    left, right = Network.from_edges([(0, 1), (1, 2)], 3), Network.from_edges([(0, 1)], 2)
    own = Hypergraph(csr_array(np.ones((3, 1), np.float32)))
    problem = Problem(left, right, [(0, 0)], hypergraphs=(own, None))
    assert forget_accounts(problem, (np.array([1]), np.empty(0, int))).hypergraphs[0].H.toarray().tolist() == [
        [1],
        [0],
        [1],
    ]
    with pytest.raises(ValueError, match="a hypergraph of 3 accounts for a network of 2"):
        Problem(left, right, [(0, 0)], hypergraphs=(None, own))


def test_kedge_notes_a_hypergraph_that_it_does_not_use(folder: Any, tmp_path: Path) -> None:
    words = match_words(folder, tmp_path / "run", *own_words(folder), *WORDS, "--set", "pairing.use=no")
    assert "the hypergraph is not used: --set pairing.use=yes" in call(*words).stderr


@pytest.mark.parametrize(
    ("settings", "anchors", "expected"),
    [
        ([], 30, 6 * 3),
        ([], 200, 6 * 1),
        ([], 0, 0),
        (["decide.folds=1"], 30, 2 * 3),
        (["pairing.use=yes", "pairing.refinements=2"], 30, 6 * 2),
        (["pairing.use=yes", "pairing.refinements=0", "pairing.mixture=[1, 1, 1, 1, 1, 1]"], 30, 6 * 1),
        (["pairing.use=no"], 30, 0),
        (["pairing.accounts=10"], 30, 0),
        (["pairing.use=yes", "pairing.vectors=mgcn"], 30, 6 * 3),
        (["evidence.form=dense"], 30, 0),
        (["evidence.form=dense", "pairing.use=yes"], 30, 6 * 3),
        (["method=evidence"], 30, 0),
    ],
)
def test_the_estimate_of_cost_knows_how_often_near_accounts_are_searched_for(
    settings: Any, anchors: int, expected: Any
) -> None:
    """In the run and in the first of five times three without some anchors; a mixture alone searches once too."""
    problem = kedge_problem(30)
    config = resolve(assignments=["method=kedge", *settings])
    found = count_refinements(problem.left, problem.right, anchors, config)
    assert found == expected
    alone, more = (estimate_cost(problem.left, problem.right, count) for count in (0, found))
    assert (more > alone) == (expected > 0)


def test_check_estimates_the_cost_of_embeddings_or_names_the_anchors_as_missing(tmp_path: Path) -> None:
    call("synth", "-o", tmp_path / "data", "--nodes", "300", "-q")
    files = [tmp_path / "data" / name for name in ("left.tsv", "right.tsv")]
    without = call("check", *files).stdout
    assert "embeddings add to that, depending on the anchors" in without
    known = call("check", *files, "--anchors", tmp_path / "data" / "anchors.tsv").stdout
    assert "depending on the anchors" not in known
    assert "will take roughly" in known
