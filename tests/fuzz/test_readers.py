"""Hostile bytes for the readers of text, Parquet and TOML: each gives data, or one line that names the file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.config import Config, resolve, to_toml
from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs

pytestmark = pytest.mark.fuzz
fuzz: Final = settings.get_profile("fuzz")

# What tables are written with, and every character that some library takes for the end of a line or for a space.
_SIGNS: Final = "ab01,;\t |\"'#%\n\r\0\f\v.-e+é\ufeff\x1c\x85\u2028\u2029\u200b\ud7ff"
_LINES: Final = st.text(_SIGNS, max_size=200)


def is_read_or_refused(path: Path, *readers: Callable[[Path], Any]) -> None:
    for reader in readers:
        try:
            reader(path)
        except KedgeError as error:
            text = str(error)
            assert text.isprintable(), "one line, and nothing that a terminal obeys"
            assert str(path) in text, "the file is named"


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "input"
    path.write_bytes(content)
    return path


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A good file with some bytes changed, and perhaps cut short or repeated."""
    content = bytearray(whole)
    for place, byte in draw(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=6)):
        content[place] = byte
    start, end = sorted((draw(st.integers(0, len(whole))), draw(st.integers(0, len(whole)))))
    cut = draw(st.sampled_from(["whole", "whole", "cut", "without", "twice"]))
    return bytes(
        {"whole": content, "cut": content[:end], "without": content[:start] + content[end:], "twice": content * 2}[cut]
    )


@fuzz
@given(st.binary(max_size=400) | _LINES.map(str.encode) | _LINES.map(lambda text: text.encode("utf-16")))
def test_any_text(tmp_path: Path, content: bytes) -> None:
    is_read_or_refused(written(tmp_path, content), read_network, read_pairs)


@fuzz
@given(damaged(gzip.compress(b"a,b,1\nb,c,2\n" * 50, mtime=0)) | damaged(b"source,target\n" + b"ann,b\xc3\xa9\n" * 20))
def test_damaged_text(tmp_path: Path, content: bytes) -> None:
    is_read_or_refused(written(tmp_path, content), read_network, read_pairs)


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


_EDGES: Final = pa.table(
    {"source": ["ann", "bob", "cy"] * 20, "target": ["bob", "cy", "dé"] * 20, "weight": [1.5] * 60}
)


@fuzz
@given(damaged(parquet(_EDGES)) | damaged(parquet(_EDGES, compression="none", use_dictionary=False)))
def test_damaged_parquet(tmp_path: Path, content: bytes) -> None:
    is_read_or_refused(written(tmp_path, content), read_network, read_pairs)


_VALUES: Final = st.recursive(
    st.integers() | st.floats() | st.booleans() | st.text(max_size=5).map(lambda text: f"'{text}'"),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


@fuzz
@given(
    st.binary(max_size=200)
    | st.text("[]{}=.,\"'#\n\\ua01e+-_:TZ ", max_size=100).map(str.encode)
    | damaged(to_toml(Config()).encode())
    | st.tuples(st.sampled_from(["seed", "candidates", "decide.hops", "mgcn.length", "pairing.mixture"]), _VALUES).map(
        lambda pair: f"{pair[0]} = {pair[1]}".encode("utf-8", "surrogatepass")
    )
)
def test_any_settings(tmp_path: Path, content: bytes) -> None:
    is_read_or_refused(written(tmp_path, content), lambda path: resolve(file=path))
