"""Vectors as files that other programs load: Parquet, CSV, npz, npy, word2vec's text, safetensors.

One network, or two in one space: then each row names its network, by a column, by an array of its own, or by a prefix.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kedge.errors import KedgeError
from kedge.store.atomic import write_atomically
from kedge.types import FloatArray


class Rows(NamedTuple):
    """The accounts of a network and their vectors, row by row; `network` is left, right, or empty for a single one."""

    network: str
    ids: pa.Array
    vectors: FloatArray


def write_vectors(path: Path, rows: tuple[Rows, ...]) -> None:
    """Write a file in the format of its name."""
    _writer_of(path)(path, rows)


def vector_files(path: Path) -> tuple[Path, ...]:
    """The files that are written for this name: npy has no place for ids, which go to a second one."""
    _writer_of(path)
    return (path, _ids_path(path)) if path.suffix.lower() == ".npy" else (path,)


def _writer_of(path: Path) -> Callable[[Path, tuple[Rows, ...]], None]:
    """By the end of the file's name, or one line with the known ones."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in _WRITERS:
        *most, last = (f".{name}" for name in _WRITERS)
        raise KedgeError(f"no format {kind!r}", file=path, remedy=f"end the name in {', '.join(most)} or {last}")
    return _WRITERS[kind]


def _refuse_spaces(path: Path, ids: pa.Array) -> None:
    """Refuse ids that word2vec's text cannot hold."""
    for name in ids.to_pylist():
        if not name or name.split() != [name]:
            raise KedgeError(
                f"the id {name[:40]!r} has a space in it, or is empty: word2vec's text ends a word there",
                file=path,
                remedy="end the name in .parquet, .npz or .safetensors",
            )


def _ids_path(path: Path) -> Path:
    return path.with_suffix(".ids.json")


def _table(rows: tuple[Rows, ...], columns: Callable[[FloatArray], Mapping[str, Any]]) -> pa.Table:
    """A row for each account: its network where there are two, its id, and columns of its vector."""
    parts = []
    for network, ids, vectors in rows:
        named = {"network": pa.array([network] * len(ids))} if network else {}
        parts.append(pa.table({**named, "id": ids.cast(pa.large_string()), **columns(vectors)}))
    return pa.concat_tables(parts).combine_chunks()


def _write_parquet(path: Path, rows: tuple[Rows, ...]) -> None:
    import pyarrow.parquet as pq

    def lists(vectors: FloatArray) -> Mapping[str, Any]:
        flat = pa.array(np.ascontiguousarray(vectors).ravel())
        return {"vector": pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])}

    table = _table(rows, lists)
    write_atomically(path, lambda file: pq.write_table(table, file, compression="zstd"))


def _write_csv(path: Path, rows: tuple[Rows, ...]) -> None:
    from kedge.ingest import write_delimited

    def columns(vectors: FloatArray) -> Mapping[str, Any]:
        return {f"x{i}": pa.array(vectors[:, i]) for i in range(vectors.shape[1])}

    table = _table(rows, columns)
    write_atomically(path, lambda file: write_delimited(table, file))


def _write_npz(path: Path, rows: tuple[Rows, ...]) -> None:
    arrays: dict[str, NDArray[Any]] = {}
    for network, ids, vectors in rows:
        start = f"{network}_" if network else ""
        arrays[f"{start}ids"] = np.array(ids.to_pylist(), dtype=np.str_)
        arrays[f"{start}vectors"] = vectors
    write_atomically(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def _write_npy(path: Path, rows: tuple[Rows, ...]) -> None:
    """All vectors one below the other; the ids, in the same order, in a JSON list, or one for each network."""
    ids = {one.network: one.ids.to_pylist() for one in rows}
    text = json.dumps(ids.get("", ids), ensure_ascii=False)
    write_atomically(_ids_path(path), lambda file: file.write(text.encode()))
    write_atomically(path, lambda file: np.save(file, np.concatenate([one.vectors for one in rows]), False))


def _write_words(path: Path, rows: tuple[Rows, ...]) -> None:
    """`n d`, then one line per account: its id and its numbers; of two networks ids begin with left: or right:."""

    def write(file: BinaryIO) -> None:
        file.write(f"{sum(len(one.ids) for one in rows)} {rows[0].vectors.shape[1]}\n".encode())
        for network, ids, vectors in rows:
            start = f"{network}:" if network else ""
            for name, vector in zip(ids.to_pylist(), vectors, strict=True):
                file.write(f"{start}{name} {' '.join(map(str, vector))}\n".encode())

    for one in rows:
        _refuse_spaces(path, one.ids)
    write_atomically(path, write)


def _write_safetensors(path: Path, rows: tuple[Rows, ...]) -> None:
    """A tensor `vectors`, or `left` and `right`; the ids of each as JSON in the metadata, under the same name."""
    from safetensors.numpy import save

    tensors = {one.network or "vectors": np.ascontiguousarray(one.vectors) for one in rows}
    # One entry: safetensors keeps no order among several, and the same vectors must be the same bytes.
    ids = json.dumps({one.network or "vectors": one.ids.to_pylist() for one in rows}, ensure_ascii=False)
    write_atomically(path, lambda file: file.write(save(tensors, {"ids": ids})))


_WRITERS: Final[Mapping[str, Callable[[Path, tuple[Rows, ...]], None]]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "npz": _write_npz,
    "npy": _write_npy,
    "txt": _write_words,
    "vec": _write_words,
    "safetensors": _write_safetensors,
}
