"""The run directory and every other file that kedge writes."""

from kedge.store.atomic import refuse_overwrite, write_atomically
from kedge.store.decisions import DECISIONS_FILE, Conflict, DecisionLog, read_decisions
from kedge.store.formats import ALIGNMENT, ARRAYS, JSON, NETWORK, SPARSE, TABLE, TEXT, Format, dump_json, load_column
from kedge.store.records import from_plain, to_plain
from kedge.store.run import Identity, Run, cpu_seconds, hash_file, open_run, peak_mb, read_manifest
from kedge.store.shelf import DiskShelf

__all__ = [
    "ALIGNMENT",
    "ARRAYS",
    "DECISIONS_FILE",
    "JSON",
    "NETWORK",
    "SPARSE",
    "TABLE",
    "TEXT",
    "Conflict",
    "DecisionLog",
    "DiskShelf",
    "Format",
    "Identity",
    "Run",
    "cpu_seconds",
    "dump_json",
    "from_plain",
    "hash_file",
    "load_column",
    "open_run",
    "peak_mb",
    "read_decisions",
    "read_manifest",
    "refuse_overwrite",
    "to_plain",
    "write_atomically",
]
