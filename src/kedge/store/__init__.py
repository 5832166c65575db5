"""The run directory and every other file that kedge writes."""

from kedge.store.atomic import refuse_overwrite, write_atomically
from kedge.store.decisions import DECISIONS_FILE, Conflict, DecisionLog, read_decisions
from kedge.store.formats import ALIGNMENT, ARRAYS, JSON, NETWORK, SPARSE, TABLE, TEXT, Format, dump_json, load_column
from kedge.store.locking import lock_run, reviewing
from kedge.store.records import from_plain, to_plain
from kedge.store.run import Identity, Run, cpu_seconds, hash_file, open_run, peak_mb, read_manifest, remove_artefact
from kedge.store.shelf import DiskShelf
from kedge.store.suppressed import PURGED_FILE, purged_accounts, suppress

__all__ = [
    "ALIGNMENT",
    "ARRAYS",
    "DECISIONS_FILE",
    "JSON",
    "NETWORK",
    "PURGED_FILE",
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
    "lock_run",
    "open_run",
    "peak_mb",
    "purged_accounts",
    "read_decisions",
    "read_manifest",
    "refuse_overwrite",
    "remove_artefact",
    "reviewing",
    "suppress",
    "to_plain",
    "write_atomically",
]
