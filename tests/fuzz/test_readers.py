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

from kedge.config import Config, ReadConfig, resolve, to_toml
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


# Any account and any comment, with the characters that end a line for some library and not for Arrow.
_ODD: Final = "\x85\u2028\u2029\u00a0\u200b"
_ACCOUNT: Final = st.text("ab#%é" + _ODD, max_size=4).map(lambda text: f"x{text}y")
_COMMENT: Final = st.tuples(st.sampled_from("#%"), st.text('a,;\t "\f\v\x1c' + _ODD, max_size=12)).map("".join)
_ROW: Final = st.tuples(_ACCOUNT, _ACCOUNT).map(",".join)
_QUOTED: Final = st.tuples(st.text("#%a", min_size=1, max_size=3), _ACCOUNT).map(lambda ends: f'"{ends[0]}",{ends[1]}')


@fuzz
@given(
    _ROW,
    st.lists(_ROW | _QUOTED | _COMMENT | st.just(""), max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_no_row_is_lost(tmp_path: Path, first: str, lines: list[str], end: str, encoding: str) -> None:
    path = written(tmp_path, end.join([first, *lines]).encode(encoding))
    network, report = read_network(path, ReadConfig(delimiter=",", header="no"))
    comments = [line for line in lines if line.startswith(("#", "%"))]
    rows = [first, *(line for line in lines if line and line not in comments)]
    assert (report.rows, report.comments) == (len(rows), len(comments))
    assert report.rows == network.edges + report.repeated + report.self_loops
    ids = {field.strip('"') for row in rows for field in row.split(",")}
    assert set(network.ids.to_pylist()) == {name.strip() for name in ids}


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


_COLUMNS: Final = st.one_of(
    st.lists(st.text(max_size=5) | st.none(), min_size=3, max_size=3).map(lambda cells: pa.array(cells, pa.string())),
    st.lists(st.binary(max_size=5), min_size=3, max_size=3).map(lambda cells: pa.array(cells, pa.binary())),
    st.lists(st.floats() | st.none(), min_size=3, max_size=3).map(lambda cells: pa.array(cells, pa.float64())),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3).map(pa.array),
    st.sampled_from([
        pa.nulls(3),
        pa.array([[1], [], [2, 3]]),
        pa.array([{"a": 1}] * 3),
        pa.array([True, False, None]),
        pa.array([0, 1, 2], pa.date32()),
        pa.array([1, 2, 3], pa.duration("s")),
        pa.array([b"\xff", b"a", b"b"]).view(pa.string()),
        pa.array(["x", "y", "x"]).dictionary_encode(),
    ]),
)  # fmt: skip
_NAMES: Final = st.sampled_from(["source", "target", "weight", "a", "", "é", "a.b"])


@fuzz
@given(st.lists(st.tuples(_NAMES, _COLUMNS), max_size=4))
def test_any_table(tmp_path: Path, columns: list[tuple[str, pa.Array]]) -> None:
    table = pa.Table.from_arrays([column for _, column in columns], names=[name for name, _ in columns])
    is_read_or_refused(written(tmp_path, parquet(table)), read_network, read_pairs)


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
