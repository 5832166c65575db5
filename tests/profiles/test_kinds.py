"""Each kind of field: what it recognises, and how it compares values that agree, differ or are missing."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from kedge.errors import KedgeError
from kedge.profiles import KINDS
from kedge.profiles.date import day_of
from kedge.profiles.kinds import recognise
from kedge.profiles.values import Kind

COLUMNS = {
    "date": ["2019-03-04", "4.3.2019", "Mar 4, 2019", "Mon Mar 04 10:00:00 +0000 2019"],
    "place": ["52.5200,13.4050", "48.1, 11.6", "(40.71, -74.00)", "-33.87;151.21"],
    "vector": ["[0.1, 0.2, 0.3]", "1 0 0", "0,1,0", "0.5;0.5;0.1"],
    "number": ["1", "2.5", "-3e4", "0"],
    "url": ["https://www.example.org/me", "http://example.com", "https://a.b/c?x=1", "www.x.org"],
    "hash": [f"{i:032x}a1" for i in range(4)],
    "tokens": ["chess; jazz; go", "red|blue", "cats, dogs, birds", "one;two"],
    "text": ["I like trains and old maps", "a writer of short stories here", "the best in the world", "not one of us"],
    "handle": ["Ada Lovelace", "alan_turing", "grace-hopper", "k.gödel"],
    "category": ["Berlin", "Paris", "Berlin", "Berlin"],
}

# Two equal in meaning, two that differ; the similarity of the first is to be above that of the second.
ALIKE = {
    "date": ("2019-03-04", "2019-03-06", "2001-01-01"),
    "place": ("52.5200,13.4050", "52.5201,13.4051", "48.1,11.6"),
    "vector": ("1 0 0", "0.9 0.1 0", "0 1 0"),
    "number": ("10", "11", "5000"),
    "url": ("https://www.example.org/me", "http://example.org/you", "https://other.net/me"),
    "tokens": ("chess; jazz; go", "go; jazz; cats", "red; blue"),
    "text": ("I like trains and old maps", "old maps of trains", "a writer of stories"),
    "handle": ("Ada Lovelace", "lovelace.ada1", "alan_turing"),
}


def _needs(kind: Kind) -> None:
    if kind.extra:
        pytest.importorskip("rapidfuzz")


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_found_by_its_values(name: str) -> None:
    column = pa.array([*COLUMNS[name], None], pa.large_string())
    assert recognise("field", column, column).name == name


def test_numbers_lists_and_dates_of_arrow_need_no_parsing() -> None:
    assert recognise("f", pa.array([1, 2]), pa.array([2.5, None])).name == "number"
    assert recognise("f", pa.array([[0.1, 0.2, 0.3]]), pa.array([[1.0, 0.0, 0.0]])).name == "vector"
    assert recognise("f", pa.array([["a", "b"]]), pa.array([["b"]])).name == "tokens"
    assert recognise("f", pa.array([date(2019, 3, 4)]), pa.array([date(2020, 1, 1)])).name == "date"


def test_a_name_with_repeated_values_is_a_handle_by_what_it_is_called() -> None:
    values = pa.array(["Ada", "Ada", "Bob", "Ada"])
    assert recognise("first_name", values, values).name == "handle"
    assert recognise("city", values, values).name == "category"


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_alike_is_more_similar_than_what_differs(name: str) -> None:
    kind = KINDS[name]
    _needs(kind)
    one, near, far = ALIKE[name]
    fill = [*COLUMNS[name]]
    left, right = kind.prepare(pa.array([one, None, *fill]), pa.array([near, far, one, *fill]))
    alike, apart = kind.similarity(left, right, np.array([[0, 0], [0, 1]]))
    assert 0 <= apart < alike <= 1
    assert left.codes[0] == right.codes[2] != right.codes[0], "equal values have one number"
    assert left.filled.tolist()[:2] == [True, False]


@pytest.mark.parametrize("name", KINDS)
def test_every_level_has_a_share(name: str) -> None:
    kind = KINDS[name]
    assert len(kind.same) == len(kind.edges) + 2, "below each edge, above the last, and equal"
    assert abs(sum(kind.same) - 1) < 1e-9
    assert list(kind.edges) == sorted(kind.edges)


def test_categories_are_equal_but_for_case_and_accents_and_hashes_are_not() -> None:
    left, right = KINDS["category"].prepare(pa.array(["São Paulo"]), pa.array(["sao  paulo"]))
    assert left.codes[0] == right.codes[0]
    left, right = KINDS["hash"].prepare(pa.array(["AB12"]), pa.array(["ab12"]))
    assert left.codes[0] != right.codes[0]


def test_dates_in_several_forms_are_one_day() -> None:
    day = date(2019, 3, 4).toordinal()
    forms = ["2019-03-04", "2019/3/4", "2019-03-04T10:00:00Z", "04.03.2019", "4 March 2019", "Mar 4, 2019"]
    assert [day_of(text) for text in forms] == [day] * len(forms)
    assert day_of("03/04/2019", month_first=True) == day
    assert day_of("2019-02-30") is None
    assert day_of("soon") is None
    # A month beyond the twelfth shows that days come second in the whole column.
    left, right = KINDS["date"].prepare(pa.array(["03/04/2019", "03/25/2019"]), pa.array(["2019-03-04"]))
    assert left.codes[0] == right.codes[0]


def test_vectors_of_unequal_length_are_refused() -> None:
    with pytest.raises(KedgeError, match="vectors of unequal length: 2 and 3 numbers; give all"):
        KINDS["vector"].prepare(pa.array([[1.0, 0.0]]), pa.array([[1.0, 0.0, 0.0]]))
