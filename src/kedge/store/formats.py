"""The formats of a run directory: Parquet, npz without pickle, safetensors, JSON, CSV; how each is written and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["ARRAYS", "JSON", "SPARSE", "TABLE", "Format", "dump_json"]

T = TypeVar("T")


class _Dump(Protocol):
    def __call__(self, value: Any, file: BinaryIO) -> object: ...


class Format(NamedTuple, Generic[T]):
    """How a value goes to a file and comes back."""

    dump: _Dump
    load: Any


def dump_json(value: Any) -> str:
    """JSON with a line a field; what JSON cannot say (NaN) is refused rather than written."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _dump_table(value: pa.Table, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(value, file, compression="zstd")


def _load_table(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _dump_arrays(value: Mapping[str, NDArray[Any]], file: BinaryIO) -> None:
    np.savez(file, allow_pickle=False, **value)


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _dump_sparse(value: csr_array, file: BinaryIO) -> None:
    parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": np.asarray(value.shape)}
    _dump_arrays(parts, file)


def _load_sparse(path: Path) -> csr_array:
    held = _load_arrays(path)
    shape = (int(held["shape"][0]), int(held["shape"][1]))
    return csr_array((held["data"], held["indices"], held["indptr"]), shape=shape)


TABLE: Format[pa.Table] = Format(_dump_table, _load_table)
ARRAYS: Format[dict[str, NDArray[Any]]] = Format(_dump_arrays, _load_arrays)
SPARSE: Format[csr_array] = Format(_dump_sparse, _load_sparse)
JSON: Format[Any] = Format(
    lambda value, file: file.write(dump_json(value).encode()), lambda path: json.loads(path.read_text("utf-8"))
)
