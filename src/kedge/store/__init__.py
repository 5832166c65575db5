"""The run directory and every other file that kedge writes.

`decisions`, the log of the reviewers, is reached directly: a first match has none.
"""

from kedge.store.artefacts import Artefacts, open_artefacts
from kedge.store.atomic import (
    TEMPORARY,
    refuse_directory,
    refuse_overwrite,
    remove_leftovers,
    translate_disk_errors,
    write_atomically,
)
from kedge.store.cache import DiskCache
from kedge.store.contents import (
    Contents,
    Scored,
    held_out_table,
    load_contents,
    load_decided,
    load_fields,
    load_held_out,
    load_known_fields,
    load_mixture,
    load_problem,
    load_sample,
    load_scored,
    load_settings,
    load_support,
    load_suspects,
    open_finished,
    open_vectors,
    run_config,
)
from kedge.store.decision_head import Head, open_decisions, read_decisions, record_decisions
from kedge.store.formats import (
    ALIGNMENT,
    ARRAYS,
    JSON,
    NETWORK,
    SAMPLE,
    SPARSE,
    TABLE,
    TEXT,
    Format,
    dump_json,
    load_column,
)
from kedge.store.journal import Draft
from kedge.store.keys import make_key, read_key
from kedge.store.layout import (
    ANCHORS,
    AUDIT,
    AUDIT_CSV,
    CALIBRATION,
    CONFIG,
    DECIDED,
    DECISIONS_FILE,
    EMBEDDINGS,
    EVALUATION,
    FIELDS,
    HELD_OUT,
    HYPERGRAPHS,
    MANIFEST,
    MATCHES,
    METRICS,
    NETWORKS,
    PARTS,
    PRIOR,
    PROFILES,
    REPORT,
    SCORES,
    SETTINGS,
    SHARED_VALUES,
    STAGES,
    SUPPORT,
    SUSPECTS,
    TRAINING,
    Stage,
)
from kedge.store.locking import lock_run, reviewing
from kedge.store.manifest import Identity, fingerprint, hash_file, library_versions, read_manifest, write_manifest
from kedge.store.purged import PURGED_FILE, purged_accounts, record_purged
from kedge.store.records import from_plain, to_plain
from kedge.store.run import Run, hold_run, open_run, resume_run
from kedge.store.sealed import seal
from kedge.store.vectors import Rows, vector_files, write_vectors
