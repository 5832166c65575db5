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

from kedge.alignment import Alignment, SparseAlignment, VectorAlignment
from kedge.link.pair_network import PairNetwork
from kedge.types import Network

__all__ = ["ALIGNMENT", "ARRAYS", "JSON", "NETWORK", "SPARSE", "TABLE", "TEXT", "Format", "dump_json", "load_column"]

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


def load_column(path: Path, name: str, coded: bool = False) -> pa.Array:
    """One column of a table; `coded`: texts as a dictionary, which is far smaller where they repeat.

    Column by column a large table never stands in memory as a whole.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, read_dictionary=[name] if coded else None) as file:
        column = file.read([name], use_threads=False)[name]
    return column.unify_dictionaries().combine_chunks() if coded else column.combine_chunks()


def _dump_arrays(value: Mapping[str, NDArray[Any]], file: BinaryIO) -> None:
    np.savez(file, allow_pickle=False, **value)


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _parts(value: csr_array, prefix: str = "") -> dict[str, NDArray[Any]]:
    parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": np.asarray(value.shape)}
    return {f"{prefix}{name}": part for name, part in parts.items()}


def _joined(held: Mapping[str, NDArray[Any]], prefix: str = "") -> csr_array:
    data, indices, indptr, shape = (held[f"{prefix}{name}"] for name in ("data", "indices", "indptr", "shape"))
    return csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))


def _dump_sparse(value: csr_array, file: BinaryIO) -> None:
    _dump_arrays(_parts(value), file)


def _load_sparse(path: Path) -> csr_array:
    return _joined(_load_arrays(path))


TABLE: Format[pa.Table] = Format(_dump_table, _load_table)
ARRAYS: Format[dict[str, NDArray[Any]]] = Format(_dump_arrays, _load_arrays)
SPARSE: Format[csr_array] = Format(_dump_sparse, _load_sparse)
TEXT: Format[str] = Format(lambda value, file: file.write(value.encode()), lambda path: path.read_text("utf-8"))
JSON: Format[Any] = Format(
    lambda value, file: file.write(dump_json(value).encode()), lambda path: json.loads(path.read_text("utf-8"))
)


def _dump_network(value: Network, file: BinaryIO) -> None:
    ids = value.ids.cast(pa.large_string())
    if ids.offset:
        ids = pa.concat_arrays([ids])
    _, offsets, text = ids.buffers()
    adjacency = value.adjacency
    arrays: dict[str, NDArray[Any]] = {
        "indptr": adjacency.indptr,
        "indices": adjacency.indices,
        "id_offsets": np.frombuffer(offsets, np.int64)[: len(ids) + 1],
        "id_text": np.frombuffer(text, np.uint8) if text is not None else np.empty(0, np.uint8),
    }
    if not (adjacency.data == 1).all():
        arrays["weights"] = adjacency.data
    _dump_arrays(arrays, file)


def _load_network(path: Path) -> Network:
    held = _load_arrays(path)
    n = len(held["indptr"]) - 1
    weights = held.get("weights", np.ones(len(held["indices"]), np.float32))
    buffers = [None, pa.py_buffer(held["id_offsets"]), pa.py_buffer(held["id_text"])]
    ids = pa.Array.from_buffers(pa.large_string(), n, buffers)
    return Network(csr_array((weights, held["indices"], held["indptr"]), shape=(n, n)), ids)


def _dump_alignment(value: Alignment, file: BinaryIO) -> None:
    if isinstance(value, SparseAlignment):
        arrays = _parts(value.scores) | ({} if value.strengths is None else _parts(value.strengths, "believed_"))
        if value.vectors is not None:
            arrays |= {"laid_left": value.vectors.left, "laid_right": value.vectors.right}
        _dump_arrays(arrays, file)
    elif isinstance(value, VectorAlignment):
        arrays = {"left": value.left, "right": value.right}
        if value.head is not None:
            arrays |= _parts(value.head, "head_")
        if isinstance(value.judge, PairNetwork):
            arrays |= {f"judge_{name}": part for name, part in value.judge.arrays().items()}
        _dump_arrays(arrays, file)
    else:
        raise TypeError(f"no format for {type(value).__name__}")


def _load_alignment(path: Path) -> Alignment:
    held = _load_arrays(path)
    if "left" in held:
        head = _joined(held, "head_") if "head_data" in held else None
        judge = {name.removeprefix("judge_"): part for name, part in held.items() if name.startswith("judge_")}
        return VectorAlignment(held["left"], held["right"], head, PairNetwork.of(judge) if judge else None)
    strengths = _joined(held, "believed_") if "believed_data" in held else None
    laid = VectorAlignment(held["laid_left"], held["laid_right"]) if "laid_left" in held else None
    return SparseAlignment(_joined(held), strengths, laid)


NETWORK: Format[Network] = Format(_dump_network, _load_network)
ALIGNMENT: Format[Alignment] = Format(_dump_alignment, _load_alignment)
