"""Inputs that kedge must refuse in one line: each a name, what it is given as, and how to make it.

`tests/cli/test_bad_inputs.py` runs them all; `benchmarks/bad_inputs.py` adds packed and recoded variants and counts.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import socket
import sqlite3
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from kedge.cli import app

GOOD = "a,b\nb,c\nc,d\nd,a\na,c\nd,e\n"
ANCHORS = "a,a\nb,b\nc,c\n"
MEMBERS = "a,first,0.5\nb,first,1\nc,second,1\n"


class Bad(NamedTuple):
    """One bad input; `given_as` is network, anchors, hyperedges, settings, or words for the command line."""

    name: str
    given_as: str
    content: bytes | Callable[[Path], object] | tuple[str, ...]


def write_good(folder: Path) -> None:
    for name, content in (("good.csv", GOOD), ("known.csv", ANCHORS)):
        (folder / name).write_text(content)


def fault_of(bad: Bad, folder: Path) -> str | None:
    """What is wrong with kedge's answer; None: refused in one line that names the input, with exit code 2."""
    path, out = folder / "bad input", folder / "out.parquet"
    if callable(bad.content):
        bad.content(path)
    elif isinstance(bad.content, bytes):
        path.write_bytes(bad.content)
    good, known = folder / "good.csv", folder / "known.csv"
    words: dict[str, list[object]] = {
        "network": ["match", path, good, "-a", known, "-o", out],
        "anchors": ["match", good, good, "-a", path, "-o", out],
        "hyperedges": ["match", good, good, "-a", known, "-o", out, "--method", "mgcn", "--left-hypergraph", path],
        "settings": ["match", good, good, "-a", known, "-o", out, "--config", path],
        "words": [
            "match",
            good,
            good,
            "-a",
            known,
            "-o",
            out,
            *(bad.content if isinstance(bad.content, tuple) else ()),
        ],
    }
    before = set(folder.iterdir())
    result = CliRunner().invoke(app, [str(word) for word in (*words[bad.given_as], "-q")])
    lines = result.stderr.splitlines()
    faults = {
        f"exit code {result.exit_code}": result.exit_code != 2,
        "a traceback": "Traceback" in result.output,
        f"{len(lines)} lines": len(lines) != 1,
        "a line without the file": bad.given_as != "words" and "bad input" not in result.stderr,
        "a line without remedy": not lines or "; " not in lines[-1],
        "an output": set(folder.iterdir()) != before,
    }
    found = [fault for fault, holds in faults.items() if holds]
    return f"{bad.name}: {', '.join(found)}: {result.output[-300:]!r} {result.exception!r}" if found else None


def all_cases() -> list[Bad]:
    """Every case, each name once."""
    cases = [*_texts("network"), *_weights(), *_packed(), *_formats(), *_parquet(), *_places("network")]
    cases += [*_texts("anchors"), *_anchors(), *_places("anchors"), *_hyperedges(), *_settings(), *_words()]
    assert len({(bad.given_as, bad.name) for bad in cases}) == len(cases)
    return cases


def variants() -> Iterator[Bad]:
    """The faults of text once more: packed, with other line ends, in UTF-16, after comments."""
    forms: dict[str, Callable[[str], bytes]] = {
        "in gzip": lambda text: gzip.compress(text.encode(), mtime=0),
        "in zstd": lambda text: pa.compress(text.encode(), codec="zstd", asbytes=True),
        "with \\r\\n": lambda text: text.replace("\n", "\r\n").encode(),
        "with \\r": lambda text: text.replace("\n", "\r").encode(),
        "in UTF-16": lambda text: text.encode("utf-16"),
        "with a BOM": lambda text: text.encode("utf-8-sig"),
        "after comments": lambda text: ('# one\n% two, "three\n\n' + text).encode(),
    }
    for bad in (*_texts("network"), *_weights()):
        assert isinstance(bad.content, bytes)
        try:
            text = bad.content.decode()
        except UnicodeDecodeError:
            continue
        if text.strip("\ufeff") and "\r" not in text and len(text) < 100_000:
            yield from (Bad(f"{bad.name}, {name}", "network", form(text)) for name, form in forms.items())


def _texts(given_as: str) -> Iterator[Bad]:
    """Faults of a text table, with good rows before them where that matters."""
    good = "a,b\nb,c\n" if given_as == "network" else "a,a\nb,b\n"
    texts: dict[str, str | bytes] = {
        "empty": b"",
        "a line end": "\n",
        "line ends": "\n\r\n\n",
        "a space": " \n",
        "only a BOM": b"\xef\xbb\xbf",
        "only a BOM of UTF-16": b"\xff\xfe",
        "only NULs": bytes(100),
        "only comments": "# one\n% two\n",
        "only a header": "source,target\n",
        "one column": "a\nb\nc\n",
        "one id": "a",
        "a row too short": good + "c\n" + good,
        "a row too long": good + "c,d,e\n" + good,
        "a row far below too short": good * 300 + "c\n",
        "no first id": good + ",d\n",
        "no second id": good + "d,\n",
        "an id of spaces": good + "  ,d\n",
        "an id of no-break spaces": good + "\u00a0,d\n",
        "a quote that does not end": good + '"c,d\n',
        "a quote over two lines": good + '"c\nd",e\n' + good,
        "a quoted empty id": good + '"",d\n',
        "a long id": good + "x" * 5000 + ",d\n",
        "a long line": good + "x" * (2 << 20) + ",d\n",
        "a long line without end": good + "x" * (5 << 20),
        "Latin-1": good.encode() + "é,d\n".encode("latin-1"),
        "Windows-1252": good.encode() + "\u201c,d\n".encode("cp1252"),
        "Shift JIS": good.encode() + "表,d\n".encode("shift_jis"),
        "GBK": good.encode() + "你,d\n".encode("gbk"),
        "byte ff": good.encode() + b"\xff,d\n",
        "an overlong code": good.encode() + b"\xc0\xaf,d\n",
        "a surrogate": good.encode() + b"\xed\xa0\x80,d\n",
        "a code beyond Unicode": good.encode() + b"\xf5\x80\x80\x80,d\n",
        "a cut character": good.encode() + b"d,\xe2\x82",
        "a byte far below": (good * 50_000).encode() + b"\xff,d\n",
        "a bad byte in a comment's row": good.encode() + b"x,\xff\n# y\n",
        "UTF-16 cut in a character": ("\ufeff" + good).encode("utf-16-le")[:-1],
        "UTF-16 with half a pair": "\ufeffa,b\n".encode("utf-16-le") + b"\x00\xd8,\x00x\x00\n\x00",
        "UTF-32": good.encode("utf-32"),
        "UTF-32 without BOM": good.encode("utf-32-be"),
    }
    texts |= {
        f"control character {code:#04x}": good + f"c{chr(code)}x,d\n" for code in (*range(1, 9), *range(14, 32), 127)
    }
    for name, text in texts.items():
        yield Bad(name, given_as, text.encode() if isinstance(text, str) else text)


def _weights() -> Iterator[Bad]:
    good = "source,target,weight\na,b,1\nb,c,2\n"
    words = (
        "nan inf -inf -1 -0.5 1e300 1e39 1e16 1e-16 1e-45 1e-300 1e400 much 0x10 1e 1,5 -- +-1 1.2.3 １ 1_000 $5 5% NA"
    )
    for word in [*words.split(), "", '"', "null", "true", "9" * 400]:
        yield Bad(f"weight {word[:20]!r}", "network", f"{good}c,d,{word}\n".encode())


def _zip() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as packed:
        packed.writestr("edges.csv", GOOD)
    return sink.getvalue()


def _tar() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as packed:
        member = tarfile.TarInfo("edges.csv")
        member.size = len(GOOD)
        packed.addfile(member, io.BytesIO(GOOD.encode()))
    return sink.getvalue()


def _packed() -> Iterator[Bad]:
    text = "".join(f"{i},{i * 7919 % 1000}\n" for i in range(1000)).encode()
    gz, zst = gzip.compress(text, mtime=0), pa.compress(text, codec="zstd", asbytes=True)
    flipped = bytearray(gz)
    flipped[len(gz) // 2] ^= 0xFF
    packed = {
        "gzip cut in half": gz[: len(gz) // 2],
        "gzip without its end": gz[:-8],
        "gzip with other bytes": bytes(flipped),
        "gzip of nothing": gzip.compress(b"", mtime=0),
        "gzip magic alone": b"\x1f\x8b",
        "gzip header alone": gz[:10],
        "gzip in gzip": gzip.compress(gz, mtime=0),
        "zstd cut in half": zst[: len(zst) // 2],
        "zstd magic alone": b"\x28\xb5\x2f\xfd",
        "zstd with other bytes": zst[:20] + b"\xff" * 40 + zst[60:],
        "bzip2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zip": _zip(),
        "tar": _tar(),
    }
    yield from (Bad(name, "network", content) for name, content in packed.items())


def _numpy(**arrays: Any) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=True, **arrays)
    return sink.getvalue()


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table edges (a, b)")
    connection.close()


def _formats() -> Iterator[Bad]:
    """Files of other kinds."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, pa.schema([("a", pa.string())])):
        pass
    pairs = [line.split(",") for line in GOOD.splitlines()]
    kinds: dict[str, bytes | Callable[[Path], object]] = {
        "Arrow file": sink.getvalue(),
        "PNG": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\nxref\n",
        "program": b"\x7fELF\x02\x01\x01" + bytes(64),
        "pickle": pickle.dumps(pairs),
        "npz": _numpy(edges=np.zeros((3, 2), np.int64)),
        "SQLite": _sqlite,
        "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
        "JSON": json.dumps({"nodes": ["a", "b"], "settings": {"seed": 1}}, indent=1).encode(),
        "XML": b'<?xml version="1.0"?>\n<graphml>\n<edge source="a" target="b"/>\n</graphml>\n',
        "GML": b"graph [\n  node [\n    id 0\n  ]\n  edge [\n    source 0\n",
        "HTML": b"<!DOCTYPE html>\n<html>\n<body>Not found, sorry</body>\n</html>\n",
        "adjacency lists": b"a b c d\nb c\nc a b d e f\n",
        "noise": np.random.default_rng(0).bytes(3000),
        "Parquet magic": b"PAR1",
        "Parquet magic twice": b"PAR1PAR1",
        "Parquet with a giant footer": b"PAR1" + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "encrypted Parquet": b"PARE" + b"\xff" * 100 + b"PARE",
    }
    yield from (Bad(name, "network", content) for name, content in kinds.items())


def parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def _columns(*columns: Any, names: str = "source target weight") -> pa.Table:
    return pa.Table.from_arrays([*columns], names=names.split()[: len(columns)])


def _parquet() -> Iterator[Bad]:
    ids, good = pa.array(["a", "b"]), parquet(_columns(pa.array(["a", "b"]), pa.array(["b", "c"])))
    broken = pa.array([b"\xff", b"b"]).view(pa.string())
    bomb = pa.array(["x" * 4000]).take(pa.array(np.zeros(1 << 17, np.int64)))
    tables = {
        "no columns": pa.table({}),
        "one column": _columns(ids),
        "no rows": _columns(ids[:0], ids[:0]),
        "two columns of one name": _columns(ids, ids, names="a a"),
        "several sources": _columns(ids, ids, ids, names="source source target"),
        "several weights": _columns(ids, ids, ids, ids, names="source target weight weight").drop_columns([]),
        "text that is no UTF-8": _columns(broken, ids),
        "text that is no UTF-8, numbered": _columns(broken.dictionary_encode(), ids),
        "bytes that are no UTF-8": _columns(broken.view(pa.binary()), ids),
        "a missing id": _columns(pa.array(["a", None]), ids),
        "missing ids": _columns(pa.nulls(2), ids),
        "an empty id": _columns(pa.array(["a", ""]), ids),
        "a long id": _columns(pa.array(["a", "x" * 5000]), ids),
        "an id with NUL": _columns(pa.array(["a", "x\0"]), ids),
        "decimal ids": _columns(pa.array([1.5, 2.5]), ids),
        "lists": _columns(pa.array([["a"], ["b"]]), ids),
        "structs": _columns(pa.array([{"x": 1}, {"x": 2}]), ids),
        "maps": _columns(pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())), ids),
        "a weight of text": _columns(ids, ids, pa.array(["much", "more"])),
        "a missing weight": _columns(ids, ids, pa.array([1.0, None])),
        "weight NaN": _columns(ids, ids, pa.array([1.0, float("nan")])),
        "weight infinity": _columns(ids, ids, pa.array([1.0, float("inf")])),
        "weight -1": _columns(ids, ids, pa.array([1, -1])),
        "weight 1e300": _columns(ids, ids, pa.array([1, 1e300])),
        "weight 1e-45": _columns(ids, ids, pa.array([1, 1e-45])),
        "weight 2^62": _columns(ids, ids, pa.array([1, 2**62])),
        "weights that are lists": _columns(ids, ids, pa.array([[1.0], [2.0]])),
        "weights that are dates": _columns(ids, ids, pa.array([1, 2], pa.timestamp("s"))),
        "a bomb": _columns(bomb, bomb),
    }
    files = {name: parquet(table) for name, table in tables.items()}
    files |= {
        "cut in half": good[: len(good) // 2],
        "without its end": good[:-4],
        "a footer of zeros": good[:-60] + bytes(52) + good[-8:],
        "a footer that is too long": good[:-8] + struct.pack("<I", len(good) * 2) + b"PAR1",
    }
    yield from (Bad(f"Parquet: {name}", "network", content) for name, content in files.items())


def _places(given_as: str) -> Iterator[Bad]:
    """What is no file."""

    def unix_socket(path: Path) -> None:
        # The name of a socket must be short.
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        finally:
            os.chdir(here)

    places: dict[str, Callable[[Path], object]] = {
        "missing": lambda path: None,
        "a directory": Path.mkdir,
        "a dangling link": lambda path: path.symlink_to("nowhere"),
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a link to a directory": lambda path: path.symlink_to("."),
        "a socket": unix_socket,
    }
    if given_as == "network":
        places |= {f"/dev/{name}": lambda path, name=name: path.symlink_to(f"/dev/{name}") for name in _DEVICES}  # type: ignore[misc]
        places["a FIFO"] = os.mkfifo
    yield from (Bad(name, given_as, make) for name, make in places.items())


_DEVICES = ("null", "zero", "full", "random", "tty")


def _anchors() -> Iterator[Bad]:
    texts = {
        "unknown accounts": "x,y\nz,q\n",
        "mostly unknown accounts": "a,a\nx,y\nz,q\n",
        "contradictory": "a,a\na,b\nc,c\n",
        "contradictory on the right": "a,a\nb,a\nc,c\n",
        "ids with other digits": "01,01\n02,02\n",
    }
    yield from (Bad(name, "anchors", text.encode()) for name, text in texts.items())


def _hyperedges() -> Iterator[Bad]:
    texts = {
        "p above 1": MEMBERS + "d,second,1.5\n",
        "p below 0": MEMBERS + "d,second,-0.5\n",
        "p NaN": MEMBERS + "d,second,nan\n",
        "p that vanishes": MEMBERS + "d,second,1e-45\n",
        "p of text": MEMBERS + "d,second,much\n",
        "an unknown account": MEMBERS + "x,second,1\n",
        "exchanged columns": "first,a,1\nsecond,b,1\n",
        "empty": "",
        "one column": "a\nb\n",
    }
    yield from (Bad(name, "hyperedges", text.encode()) for name, text in texts.items())


def _settings() -> Iterator[Bad]:
    files: dict[str, bytes | str] = {
        "no TOML": "hello there",
        "no value": "seed =",
        "an unknown name": "sead = 1",
        "an unknown group": "[mgnc]\nlayers = 2",
        "a name with line ends": '"se\\ned" = 1',
        "a long name": "x" * 5000 + " = 1",
        "a value where a group is": "read = 1",
        "a group where a value is": "[seed]\na = 1",
        "twice": "seed = 1\nseed = 2",
        "text for a number": 'seed = "one"',
        "a list for a number": "seed = [1]",
        "a date for a number": "seed = 2020-01-01",
        "NaN": "[mgcn]\nlength = nan",
        "infinity": "[mgcn]\nlength = inf",
        "a negative seed": "seed = -1",
        "a huge seed": "seed = 9223372036854775808",
        "a number of 5,000 digits": "seed = " + "9" * 5000,
        "a number of 40,000 hexadecimal digits": "seed = 0x" + "f" * 40_000,
        "a float beyond all": "[mgcn]\nlength = 1e999",
        "an integer for a float, beyond all": "[mgcn]\nlength = 0x" + "f" * 400,
        "deep lists": "seed = " + "[" * 5000 + "]" * 5000,
        "deep tables": "seed = " + "{a=" * 3000 + "1" + "}" * 3000,
        "a deep name": "a." * 5000 + "b = 1",
        "a deep header": "[" + "a." * 5000 + "b]",
        "a large file": "# " + "x" * 70_000,
        "binary": bytes(range(256)),
        "UTF-16": "seed = 1\n".encode("utf-16"),
        "Latin-1": 'method = "é"'.encode("latin-1"),
        "gzip": gzip.compress(b"seed = 1\n", mtime=0),
        "JSON": '{"seed": 1}',
        "YAML": "seed: 1\n",
        "an unknown choice": '[read]\nheader = "perhaps"',
        "an old name": "[pairing]\nturns = 3",
        "a contradiction": "[pairing]\nrefinements = 0",
        "a mixture of five": '[pairing]\nuse = "yes"\nmixture = [1, 1, 1, 1, 1]',
        "a mixture of giants": '[pairing]\nuse = "yes"\nmixture = [1, 1, 1, 1, 1, 1e9]',
        "too much memory": "[read]\nmax_memory_mb = 1e12",
    }
    yield from (Bad(name, "settings", text.encode() if isinstance(text, str) else text) for name, text in files.items())
    yield from (Bad(name, "settings", make) for name, make in _PLACES_OF_SETTINGS.items())


_PLACES_OF_SETTINGS: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a directory": Path.mkdir,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
}

# One number of each group that is far beyond what can be computed; tests/config has every setting.
_GIANTS = (
    "candidates decide.hops decide.folds engine.workers engine.timeout partition.rounds hypergraph.hops "
    "hypergraph.front hypergraph.max_entries mgcn.dimensions mgcn.layers mgcn.steps evidence.rounds "
    "evidence.candidates pairing.nearest pairing.hidden baselines.walks baselines.dimensions"
).split()


def _words() -> Iterator[Bad]:
    cases: dict[str, tuple[str, ...]] = {f"{name}=1e18": ("--set", f"{name}=1e18") for name in _GIANTS}
    cases |= {
        f"--max-input-memory {size}": ("--max-input-memory", size) for size in ("0", "-1GB", "much", "1e5", "4XB", "")
    }
    cases |= {f"--set {text[:20]}": ("--set", text) for text in ("seed", "=1", "seed=", "sed=1", "seed=" + "[" * 5000)}
    cases |= {"an unknown preset": ("--preset", "papper"), "an unknown method": ("--method", "magic")}
    yield from (Bad(name, "words", words) for name, words in cases.items())
