"""Tables of Arrow IPC files and streams, also called Feather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.ipc as ipc

from kedge.errors import KedgeError
from kedge.ingest.sources import UserFile, head_of, refuse_bomb
from kedge.ingest.tables import Rows, TableReader

_FILE: Final = b"ARROW1\0\0"
_STREAM: Final = b"\xff\xff\xff\xff"
_FIRST_VERSION: Final = b"FEA1"


def _recognises(file: UserFile) -> bool:
    return head_of(file).startswith((_FILE, _STREAM, _FIRST_VERSION))


def _names(file: UserFile) -> list[str]:
    return list(_guarded(file, lambda reader: reader.schema.names))


def _read(file: UserFile, names: Sequence[str], skip: bool) -> Rows:  # noqa: ARG001 (every row of a table is readable)
    def take(reader: Any) -> pa.Table:
        kinds = reader.schema
        twice = next((name for name in names if kinds.names.count(name) > 1), None)
        if twice is not None:
            raise KedgeError(f"has several columns {twice!r}", file=file.path, remedy="give each its own name")
        batches, taken = [], 0
        many = getattr(reader, "num_record_batches", None)
        for batch in reader if many is None else map(reader.get_batch, range(many)):
            batch.validate(full=True)
            taken += batch.nbytes
            refuse_bomb(file, taken)
            batches.append(batch.select(list(names)))
        return pa.Table.from_batches(batches, pa.schema([kinds.field(name) for name in names]))

    return Rows(_guarded(file, take))


def _guarded(file: UserFile, use: Any) -> Any:
    """What `use` makes of an open reader; a damaged file is one line."""
    head = head_of(file)
    if head.startswith(_FIRST_VERSION):
        raise KedgeError(
            "is Feather of version 1, which is not read any more", file=file.path, remedy="write it as version 2"
        )
    try:
        source = pa.OSFile(str(file.path)) if file.content is None else pa.BufferReader(file.content)
        with source, (ipc.open_file if head.startswith(_FILE) else ipc.open_stream)(source) as reader:
            return use(reader)
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise KedgeError(f"cannot be read as Arrow ({reason})", file=file.path, remedy="write it again") from None


ARROW: Final = TableReader(_recognises, _names, _read)
