"""The formats of a run directory: Parquet, npz without pickle, JSON, text; how each is written and read.

All of them read from an open file, which `store.artefacts` has checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.answers import Sample
from kedge.config import Config, stored_config
from kedge.linalg import SparseAlignment, VectorAlignment, join_csr, split_csr
from kedge.store.records import from_plain, to_plain
from kedge.store.renamed import rename_arrays, rename_calibration
from kedge.types import Alignment, Network, Suspects

T = TypeVar("T")


class _Dump(Protocol):
    def __call__(self, value: Any, file: BinaryIO) -> object: ...


class Format(NamedTuple, Generic[T]):
    """How a value goes to an open file and comes back from one."""

    dump: _Dump
    load: Callable[[BinaryIO], T]


def dump_json(value: Any) -> str:
    """JSON with one line for each field; what JSON has no word for (NaN) is refused rather than written."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _dump_table(value: pa.Table, file: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(value, file, compression="zstd")


def _load_table(file: BinaryIO) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(file)


def load_column(file: BinaryIO, name: str, coded: bool = False) -> pa.Array:
    """One column of a table; `coded`: texts as a dictionary, which is far smaller where they repeat.

    Column by column a large table never stands in memory as a whole.
    """
    import pyarrow.parquet as pq

    table = pq.ParquetFile(file, read_dictionary=[name] if coded else None)
    column = table.read([name], use_threads=False)[name]
    return column.unify_dictionaries().combine_chunks() if coded else column.combine_chunks()


def _dump_arrays(value: Mapping[str, NDArray[Any]], file: BinaryIO) -> None:
    np.savez(file, allow_pickle=False, **value)


def _load_arrays(file: BinaryIO) -> dict[str, NDArray[Any]]:
    with np.load(file, allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _dump_sparse(value: csr_array, file: BinaryIO) -> None:
    _dump_arrays(split_csr(value), file)


def _load_sparse(file: BinaryIO) -> csr_array:
    found = join_csr(_load_arrays(file))
    if found is None:
        raise KeyError("data")
    return found


TABLE: Format[pa.Table] = Format(_dump_table, _load_table)
ARRAYS: Format[dict[str, NDArray[Any]]] = Format(_dump_arrays, _load_arrays)
SPARSE: Format[csr_array] = Format(_dump_sparse, _load_sparse)
TEXT: Format[str] = Format(lambda value, file: file.write(value.encode()), lambda file: file.read().decode())
JSON: Format[Any] = Format(
    lambda value, file: file.write(dump_json(value).encode()), lambda file: json.loads(file.read().decode())
)

SETTINGS_JSON: Format[Config] = Format(
    # Where the work is done is no part of what is chosen: a run may be resumed on another engine.
    lambda value, file: JSON.dump(value.identity(), file),
    lambda file: stored_config(JSON.load(file)),
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


def _load_network(file: BinaryIO) -> Network:
    held = _load_arrays(file)
    n = len(held["indptr"]) - 1
    weights = held.get("weights", np.ones(len(held["indices"]), np.float32))
    buffers = [None, pa.py_buffer(held["id_offsets"]), pa.py_buffer(held["id_text"])]
    ids = pa.Array.from_buffers(pa.large_string(), n, buffers)
    return Network(csr_array((weights, held["indices"], held["indptr"]), shape=(n, n)), ids)


def _dump_alignment(value: Alignment, file: BinaryIO) -> None:
    _dump_arrays(value.arrays(), file)


def _load_alignment(file: BinaryIO) -> Alignment:
    held = rename_arrays(_load_arrays(file))
    if "left" not in held:
        return SparseAlignment.of(held)
    learnt = {name.removeprefix("network_"): part for name, part in held.items() if name.startswith("network_")}
    if not learnt:
        return VectorAlignment.of(held, None)
    from kedge.similarity.pair_network import PairNetwork  # few runs have one

    return VectorAlignment.of(held, PairNetwork.of(learnt))


def _load_calibrator(file: BinaryIO) -> Any:
    from kedge.probability import Calibrator, EarlierCalibrator  # they load scipy.optimize

    record = JSON.load(file)
    if "moments" in record:
        return from_plain(Calibrator, record)
    return from_plain(EarlierCalibrator, rename_calibration(record))


def _load_fields(file: BinaryIO) -> Any:
    from kedge.profiles import FittedFields  # few runs have profiles

    return from_plain(FittedFields, JSON.load(file))


def _load_sample(file: BinaryIO) -> Sample:
    return from_plain(Sample, JSON.load(file))


FITTED_FIELDS: Format[Any] = Format(lambda value, file: JSON.dump(to_plain(value), file), _load_fields)
SAMPLE: Format[Sample] = Format(lambda value, file: JSON.dump(to_plain(value), file), _load_sample)
NETWORK: Format[Network] = Format(_dump_network, _load_network)
ALIGNMENT: Format[Alignment] = Format(_dump_alignment, _load_alignment)
SUSPECT_PAIRS: Format[Suspects] = Format(
    lambda value, file: _dump_arrays(value.arrays(), file), lambda file: Suspects.of(_load_arrays(file))
)
CALIBRATOR: Format[Any] = Format(lambda value, file: JSON.dump(to_plain(value), file), _load_calibrator)
