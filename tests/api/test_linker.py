"""`kedge.Linker` follows scikit-learn, which need not be installed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kedge
from kedge.api import SynthPair

QUICK = {"pairing.use": "no", "method": "evidence"}


@pytest.fixture(scope="module")
def fitted(pair: SynthPair) -> kedge.Linker:
    return kedge.Linker(settings=QUICK, seed=4).fit((pair.left, pair.right), pair.train)


def test_parameters() -> None:
    linker = kedge.Linker(seed=4)
    assert linker.get_params() == {**dict.fromkeys(linker.get_params()), "preset": "default", "seed": 4}
    assert linker.set_params(seed=5, settings={"candidates": 3}) is linker
    assert (linker.seed, linker.settings) == (5, {"candidates": 3})
    with pytest.raises(ValueError, match="no parameter 'sead' of Linker; did you mean 'seed'"):
        linker.set_params(sead=1)
    assert repr(linker) == "Linker(seed=5, settings={'candidates': 3})"


def test_predictions(fitted: kedge.Linker, pair: SynthPair) -> None:
    known = pair.train.to_pydict()
    assert fitted.predict(known["left"]) == known["right"]
    test = pair.test.to_pydict()
    predicted, proba = fitted.predict(test["left"]), fitted.predict_proba(test["left"])
    assert proba.shape == (len(predicted), 2)
    assert np.allclose(proba.sum(axis=1), 1)
    called = {row.left: row for row in fitted.run_.matches}
    for name, partner, (_, right) in zip(test["left"], predicted, proba, strict=True):
        if partner is not None:
            assert called[name].right == partner
            assert right == called[name].probability
    share = np.mean([one == other for one, other in zip(predicted, test["right"], strict=True)])
    assert fitted.score(test["left"], test["right"]) == pytest.approx(share)
    assert fitted.predict([]) == []


def test_every_left_account_is_predicted(pair: SynthPair, fitted: kedge.Linker) -> None:
    again = kedge.Linker(settings=QUICK, seed=4)
    assert again.fit_predict((pair.left, pair.right), pair.train) == fitted.predict(fitted.left_ids_)
    assert len(fitted.left_ids_) == fitted.problem_.left.n


def test_whole_numbers_are_ids_too() -> None:
    left = [(i, (i + step) % 40) for i in range(40) for step in (1, 2, 5)]
    right = [(f"r{u}", f"r{v}") for u, v in left]
    linker = kedge.Linker(settings=QUICK).fit((left, right), {i: f"r{i}" for i in range(0, 40, 2)})
    assert linker.predict([0, np.int64(2), "4"]) == ["r0", "r2", "r4"], "ids come back as text"
    with pytest.raises(kedge.KedgeError, match="id 2.0 is a decimal number"):
        linker.predict([2.0])


def test_mistakes(fitted: kedge.Linker, pair: SynthPair) -> None:
    left, right = (pair.train[side][0].as_py() for side in ("left", "right"))
    with pytest.raises(kedge.KedgeError, match=rf"'{left}' is one id, not a list of ids; write \['{left}'\]"):
        fitted.predict(left)
    with pytest.raises(kedge.KedgeError, match="1 of 2 ids are of no left account, the first 'nowhere'"):
        fitted.predict([left, "nowhere"])
    with pytest.raises(kedge.KedgeError, match="it is a right account: give left ones"):
        fitted.predict_proba([right])
    with pytest.raises(kedge.KedgeError, match=r"fit takes a pair of networks; call fit\(\(left, right\), anchors\)"):
        kedge.Linker().fit(pair.left, pair.train)
    with pytest.raises(kedge.KedgeError, match="1 left and 2 right ids"):
        fitted.score([left], [right, right])
    for error in (kedge.KedgeError, ValueError, AttributeError):
        with pytest.raises(error, match="the linker is not fitted; call fit"):
            kedge.Linker().predict([left])
    with pytest.raises(kedge.KedgeError, match="not fitted"):
        kedge.Linker().explain(left, right)


def test_pickling(fitted: kedge.Linker, pair: SynthPair) -> None:
    ids = pair.test["left"].to_pylist()
    copied = pickle.loads(pickle.dumps(fitted))
    assert copied.predict(ids) == fitted.predict(ids)
    row = next(row for row in fitted.run_.matches if row.decision == "match")
    assert copied.explain(row.left, row.right).text == fitted.explain(row.left, row.right).text
    joblib = pytest.importorskip("joblib", reason="joblib is not installed")
    assert joblib.hash(copied.matches_.probability) == joblib.hash(fitted.matches_.probability)


def test_scikit_learn_accepts_it(fitted: kedge.Linker) -> None:
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    from sklearn.utils import estimator_checks, validation

    copied = base.clone(kedge.Linker(seed=7, settings=QUICK))
    assert (copied.seed, copied.settings) == (7, QUICK)
    validation.check_is_fitted(fitted)
    # Those of `check_estimator` that need no table of numbers as input.
    for name in (
        "check_get_params_invariance",
        "check_set_params",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_estimator_cloneable",
        "check_estimator_repr",
    ):
        getattr(estimator_checks, name)("Linker", kedge.Linker())
