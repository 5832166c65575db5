"""Candidates, levels and weights: what profiles are worth, from anchors and random pairs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, random_array

from kedge.config import ProfileConfig
from kedge.context.extras import EXTRAS
from kedge.errors import KedgeError
from kedge.profiles import KINDS, Weighed, choose_fields, compare, weigh
from kedge.profiles.search import best_products
from kedge.profiles.values import weigh_terms
from kedge.profiles.weights import fit_field
from kedge.types import Network, Problem, Profiles, is_among

N = 400


def _problem(anchors: int, seed: int = 0) -> Problem:
    """Accounts i and i are one person. `city` agrees for 8 of 10, `word` for all, `noise` for none more than chance."""
    rng = np.random.default_rng(seed)
    city = np.minimum(rng.geometric(0.2, N), 30)
    word = rng.permutation(N)
    left: dict[str, list[str | None]] = {"city": [f"c{c}" for c in city], "word": [f"w{w // 4}" for w in word]}
    moved = np.where(rng.random(N) < 0.8, city, rng.integers(1, 30, N))
    right: dict[str, list[str | None]] = {"city": [f"c{c}" for c in moved], "word": [f"w{w // 4}" for w in word]}
    for side in (left, right):
        side["noise"] = [f"n{x}" for x in rng.integers(0, 5, N)]
        side["copy"] = list(side["word"])
        side["city"] = [None if lost else value for value, lost in zip(side["city"], rng.random(N) < 0.2, strict=True)]
    network = Network.from_edges([], N)
    pairs = np.column_stack([np.arange(anchors)] * 2)
    known = [Profiles(pa.table({name: pa.array(values, pa.large_string()) for name, values in side.items()}))
             for side in (left, right)]  # fmt: skip
    return Problem(network, network, pairs, profiles=(known[0], known[1]))


def _known(problem: Problem) -> tuple[Profiles, Profiles]:
    assert problem.profiles is not None
    return problem.profiles


def _weighed(problem: Problem, *fields: str) -> Weighed:
    config = ProfileConfig(fields=fields, compare=tuple(f"{field}:category" for field in fields))
    found = compare(*_known(problem), config)
    assert found is not None
    return weigh(found, problem)


def test_the_best_products_are_those_of_the_dense_product() -> None:
    rng = np.random.default_rng(0)
    left, right = (csr_array(random_array((30, 12), density=0.3, rng=rng)).astype(np.float32) for _ in range(2))
    dense = (left @ right.T).toarray()
    found = best_products(left, right, 4)
    for u in range(30):
        mine = set(found[found[:, 0] == u, 1].tolist())
        best = np.lexsort((np.arange(30), -dense[u]))[:4]
        assert mine == {v for v in best.tolist() if dense[u, v] > 0}


def test_a_rare_value_in_common_is_worth_more_than_a_frequent_one() -> None:
    problem = _problem(100)
    found = _weighed(problem, "city")
    cities = problem.profiles[0].column("city").to_pylist(), problem.profiles[1].column("city").to_pylist()
    count = {city: sum(side.count(city) for side in cities) for city in cities[0] if city}
    frequent, rare = max(count, key=count.get), min((c for c in count if c in cities[1]), key=count.get)
    worth = [found.log_odds(np.array([[cities[0].index(c), cities[1].index(c)]]))[0] for c in (frequent, rare)]
    assert 0 < worth[0] < worth[1]


def test_a_missing_value_counts_nothing_and_a_different_one_against() -> None:
    problem = _problem(100)
    found = _weighed(problem, "city")
    left, right = (side.column("city").to_pylist() for side in problem.profiles)
    u = next(i for i, city in enumerate(left) if city)
    different = next(v for v, city in enumerate(right) if city not in (None, left[u]))
    worth = found.log_odds(np.array([[u, right.index(None)], [u, different]]))
    assert worth[0] == 0
    assert worth[1] < -0.5
    left_part, right_part = found.usual()
    usual = (left_part @ right_part.T)[[u, u], [right.index(None), different]]
    assert usual[0] == 0
    assert usual[1] == pytest.approx(worth[1], abs=1e-6)


def test_a_field_that_means_nothing_is_worth_nothing() -> None:
    found = _weighed(_problem(300), "noise")
    rng = np.random.default_rng(1)
    worth = found.log_odds(rng.integers(0, N, (500, 2)))
    assert np.abs(worth).max() < 0.5


def test_a_field_that_repeats_another_is_not_counted_twice() -> None:
    problem = _problem(300)
    one, two = _weighed(problem, "word"), _weighed(problem, "word", "copy")
    true = np.column_stack([np.arange(300, N)] * 2)
    assert two.log_odds(true).mean() < 1.5 * one.log_odds(true).mean()
    assert sum(field.weight for field in two.weights) < 1.7


@pytest.mark.parametrize("kind", ["handle", "vector"])
def test_values_that_all_resemble_each_other_still_separate_persons(kind: str) -> None:
    rng = np.random.default_rng(0)
    if kind == "handle":  # no two are as different as the lowest level
        own = [f"a{i:06d}" for i in range(N)]
        sides = [own, own]
    else:  # embeddings of one model: every cosine is above 0.5
        faces = rng.random((N, 20)) + 1
        noisy = [faces, faces + 0.1 * rng.random((N, 20))]
        sides = [[" ".join(f"{x:.4f}" for x in row) for row in side] for side in noisy]
    known = [Profiles(pa.table({"x": pa.array(side, pa.large_string())})) for side in sides]
    network = Network.from_edges([], N)
    problem = Problem(network, network, np.column_stack([np.arange(50)] * 2), profiles=(known[0], known[1]))
    found = compare(known[0], known[1], ProfileConfig(compare=(f"x:{kind}",)))
    assert found is not None
    weighed = weigh(found, problem)
    assert weighed.weights[0].weight > 0.5
    others = np.arange(50, N)
    assert weighed.log_odds(np.column_stack([others, others])).mean() > 2
    assert weighed.log_odds(np.column_stack([others, np.roll(others, 7)])).mean() < -1


def test_levels_never_fall_and_rare_ones_do_not_outweigh_common_ones() -> None:
    kind = replace(KINDS["number"], edges=(0.2, 0.4, 0.6), same=(0.2, 0.2, 0.2, 0.2, 0.2))
    # Level 0 has one random pair of a thousand, level 1 nearly all, level 3 none at all.
    random = np.repeat([0, 1, 2], [1, 949, 50])
    fitted = fit_field(kind, np.repeat([1, 2, 4], [2, 20, 30]), random, np.repeat([1, 2], [20, 5]), 1e6)
    ratio = fitted.same - fitted.random
    assert (np.diff(ratio[:-1]) >= -1e-12).all()
    assert ratio[0] == pytest.approx(ratio[1])
    assert ratio[0] < -1
    assert ratio[3] == pytest.approx(ratio[2])
    assert ratio[2] > 1


def test_few_anchors_leave_the_defaults_in_force() -> None:
    found = _weighed(_problem(2), "word", "city")
    assert [field.weight for field in found.weights] == [1.0, 1.0]
    true = np.column_stack([np.arange(50, N)] * 2)
    assert found.log_odds(true).mean() > 2


def test_candidates_hold_the_true_pairs_and_not_all_pairs() -> None:
    problem = _problem(50)
    found = compare(*_known(problem), ProfileConfig())
    true = np.column_stack([np.arange(N)] * 2)
    assert is_among(true, found.pairs, N).mean() > 0.95
    assert len(found.pairs) <= 400 * N
    assert compare(*_known(problem), ProfileConfig(weight=0.5)) is found, "weights do not change what is compared"


def test_weights_learn_from_the_anchors_of_the_problem_alone() -> None:
    problem = _problem(100)
    fewer = replace(problem, anchors=problem.anchors[:50])
    found, same = _weighed(fewer, "city"), _weighed(fewer, "city")
    other = _weighed(problem, "city")
    assert np.array_equal(found.listed, same.listed)
    assert not np.array_equal(found.listed, other.listed)


def test_a_kind_that_does_not_fit_is_one_line() -> None:
    tags = Profiles(pa.table({"tags": [["a"], ["b"]]}))
    with pytest.raises(KedgeError) as caught:
        compare(tags, tags, ProfileConfig(compare=("tags:number",)))
    assert str(caught.value).startswith("the field 'tags' cannot be compared as number; state another kind")


def test_moments_with_a_zone_are_days() -> None:
    moment = pa.array([datetime(2019, 3, 4, 23, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    left, right = KINDS["date"].prepare(moment, pa.array(["2019-03-04"]))
    assert left.codes[0] == right.codes[0]


def test_a_missing_library_is_one_line_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "profiles", ("no_such_library",))
    with pytest.raises(KedgeError) as caught:
        compare(*_known(_problem(10)), ProfileConfig(compare=("word:handle",)))
    assert str(caught.value) == (
        "comparing the field 'word' (handle) needs no_such_library; install with: pip install 'kedge[profiles]'"
    )


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({}, ["city", "word", "noise", "copy"]),
        ({"fields": ("word",)}, ["word"]),
        ({"compare": ("word~copy:hash",), "fields": ("word",)}, ["word"]),
    ],
)
def test_fields_are_chosen_by_name(config: dict, names: list[str]) -> None:
    fields = choose_fields(*_known(_problem(10)), ProfileConfig(**config))
    assert [field.name for field in fields] == names
    if "compare" in config:
        assert (fields[0].right, fields[0].kind.name) == ("copy", "hash")


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"compare": ("town~city",)}, "the left profiles have no column 'town'"),
        ({"compare": ("city~cty",)}, "the right profiles have no column 'cty'; did you mean 'city'?"),
        ({"compare": ("city:colour",)}, "no kind of field 'colour'; choose one of: date, place"),
        ({"compare": ("~",)}, "'~' is no comparison"),
        ({"fields": ("wrd",)}, "no column 'wrd'; did you mean 'word'?"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_one_line(config: dict, line: str) -> None:
    with pytest.raises(KedgeError) as caught:
        choose_fields(*_known(_problem(10)), ProfileConfig(**config))
    assert line in str(caught.value)


def test_the_search_for_candidates_leaves_the_compared_values_as_they_are() -> None:
    texts = [f"common word{i % 7} only{i} {'here' if i % 2 else 'there'}" for i in range(60)]
    sides = [Profiles(pa.table({"bio": pa.array(texts[first:], pa.large_string())})) for first in (0, 20)]
    config = ProfileConfig(compare=("bio:text",))
    compared = compare(*sides, config)
    assert compared is not None
    (field,) = compared.prepared.fields
    for now, then in zip(compared.prepared.values[0], field.prepare(*sides), strict=True):
        assert (now.features != then.features).nnz == 0


def test_terms_are_in_one_order_in_every_process() -> None:
    words = [f"w{i}" for i in range(30)]
    left, _ = weigh_terms([words[::-1]], [words[: i + 1] for i in range(30)])
    by_name = [int(word[1:]) for word in sorted(words)]
    rarity = np.log(32 / (31 - np.array(by_name)))  # w0 is in all 30 bags of the right
    np.testing.assert_allclose(left.data, rarity / np.linalg.norm(rarity), rtol=1e-5)
