"""Pseudonyms: equal things hash equally, other things differently, and only who has the key can do it."""

from __future__ import annotations

import hashlib
import hmac

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.errors import KedgeError
from kedge.ingest.pseudonyms import FORMS, LENGTH, form_of, pseudonyms
from kedge.profiles.kinds import recognise

KEY = b"k" * 32
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


def _one(value: str, form: str = "text", key: bytes = KEY) -> str | None:
    return pseudonyms([value], form, key)[0]


@pytest.mark.parametrize("form", FORMS)
@given(value=TEXT)
def test_a_form_is_its_own_form(form: str, value: str) -> None:
    once = FORMS[form](value)
    assert FORMS[form](once) == once
    assert _one(value, form) == (_one(once, form) if once else None)


@given(value=TEXT)
def test_case_and_spaces_around_make_no_difference(value: str) -> None:
    assert _one(f" {value}\t") == _one(value) == _one(value.casefold())


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        ("text", "Ｊｏｓé  Straße\u200b", "jose\u0301 STRASSE"),
        ("email", " MailTo:Ana.B+x@Example.org", "ana.b+x@example.ORG "),
        ("phone", "+49 (0)30 1234-56", "0049 30/123456"),
        ("phone", "(030) 123 456", "030 - 123456"),
        ("phone", "٠٠٤٩ ٣٠", "+4930"),
    ],
)
def test_two_ways_to_write_a_value_have_one_pseudonym(form: str, one: str, other: str) -> None:
    assert _one(one, form) == _one(other, form) is not None


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        ("text", "José", "Jose"),
        ("email", "a.b@example.org", "ab@example.org"),
        ("phone", "030 123456", "+49 30 123456"),
        ("id", "Alice", "alice"),
        ("id", "01", "1"),
    ],
)
def test_other_values_have_other_pseudonyms(form: str, one: str, other: str) -> None:
    assert _one(one, form) != _one(other, form)


def test_a_pseudonym_is_the_first_half_of_an_hmac() -> None:
    message = b"kedge-pseudonym-1:text\0ada"
    assert _one("Ada") == hmac.new(KEY, message, hashlib.sha256).hexdigest()[:LENGTH]
    assert len({_one("Ada"), _one("Ada", key=b"l" * 32), _one("ada", "id"), _one("ada", "email")}) == 4


def test_empty_values_stay_empty() -> None:
    assert pseudonyms(["", " \u200b", "x"], "text", KEY)[:2] == [None, None]
    assert pseudonyms(["none", "+"], "phone", KEY) == [None, None]


def test_two_values_of_one_pseudonym_are_refused() -> None:
    with pytest.raises(KedgeError, match="two values have one pseudonym"):
        pseudonyms(map(str, range(100)), "id", KEY, length=1)
    assert len(set(pseudonyms(["A", "a "], "text", KEY, length=1))) == 1


def test_the_form_of_a_field_is_found_by_its_name() -> None:
    assert [form_of(name) for name in ("E-Mail", "mobile", "handle", "emails")] == ["email", "phone", "text", "text"]


@given(st.binary(min_size=32, max_size=40))
def test_a_column_of_pseudonyms_is_an_opaque_hash(key: bytes) -> None:
    column = pa.array(pseudonyms(map(str, range(50)), "text", key), pa.large_string())
    assert recognise("phone", column, column).name == "hash"
