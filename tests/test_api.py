"""kedge from Python."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import networkx
import pandas
import pytest

import kedge
from kedge.synthetic import anchor_table, edge_table, planted, split


@pytest.fixture(scope="module")
def pair() -> Any:
    made = planted(300, 300, 250, 1500, 1500, 0.85, 1)
    train, test = split(made.anchors, 0.4, 0)
    left, right = edge_table(made.left).to_pandas(), edge_table(made.right).to_pandas()
    return left, right, anchor_table(made.left, made.right, train), anchor_table(made.left, made.right, test)


def test_the_public_names_are_there_and_no_others() -> None:
    for name in kedge.__all__:
        assert getattr(kedge, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kedge.nonsense
    assert set(dir(kedge)) == set(kedge.__all__)


def test_importing_kedge_costs_nothing() -> None:
    code = "import sys, kedge; assert not {'numpy', 'torch', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_match_gives_a_frame(pair: Any) -> None:
    left, right, train, test = pair
    frame = kedge.match(left, right, train).to_frame()
    assert {"left", "right", "rank", "score", "probability", "margin", "decision"} <= set(frame.columns)
    best = frame[frame["rank"] == 1].set_index("left")["right"]
    truth = test.to_pandas().set_index("left")["right"]
    shared = truth.index.intersection(best.index)
    assert (best[shared] == truth[shared]).sum() > 0.2 * len(truth), "far above chance"


def test_the_form_of_the_input_does_not_matter(pair: Any) -> None:
    left, right, train, _ = pair
    # Vectors start from draws in the order of accounts, so only evidence is the same to the last digit.
    alone = partial(kedge.match, settings={"pairing.use": "no"})
    first = alone(left, right, train).to_frame()
    graph = networkx.from_pandas_edgelist(right)
    again = alone(left, graph, dict(zip(*train.to_pydict().values(), strict=True))).to_frame()
    key = ["left", "right"]
    merged = first.merge(again, on=key, suffixes=("", "_again"))
    assert len(merged) >= 0.95 * len(first), "account order may settle ties, and nothing else"
    assert (merged["score"] - merged["score_again"]).abs().max() < 1e-3


def test_the_estimator_follows_the_customs(pair: Any) -> None:
    left, right, train, _ = pair
    linker = kedge.Linker(seed=4)
    assert linker.get_params() == {"preset": "default", "seed": 4, "settings": None}
    linker.set_params(seed=5, settings={"candidates": 3})
    with pytest.raises(ValueError, match="no parameter"):
        linker.set_params(sead=1)
    with pytest.raises(kedge.KedgeError, match="not fitted"):
        linker.predict(["a"])
    known = train.to_pydict()
    said = linker.fit((left, right), train).predict([known["left"][0], "nobody"])
    assert said == [known["right"][0], None]
    assert len(linker.matches_) > 0
    row = int(linker.matches_.probability.argmax())
    ids = (
        linker.matches_.left_ids[int(linker.matches_.left[row])],
        linker.matches_.right_ids[int(linker.matches_.right[row])],
    )
    found = linker.explain(*map(str, ids))
    assert found.competition.given_counterpart * found.counterpart == pytest.approx(linker.matches_.probability[row])
    assert found.log_odds == pytest.approx(linker.matches_.score[row], abs=1e-3), "all that the score is made of"
    assert str(found).startswith(f"{ids[0]}  =  {ids[1]} ?")
    with pytest.raises(kedge.KedgeError, match="no left account"):
        linker.explain("nobody", str(ids[1]))


def test_a_users_mistake_is_a_kedge_error(pair: Any) -> None:
    left, right, train, _ = pair
    with pytest.raises(kedge.KedgeError, match="swapped"):
        kedge.match(right, left, train)
    with pytest.raises(kedge.KedgeError, match="did you mean"):
        kedge.match(left, right, train, settings={"methd": "x"})
    with pytest.raises(kedge.KedgeError, match="no anchors"):
        kedge.match(left, right, pandas.DataFrame({"left": [], "right": []}, dtype=str))
