"""What every stage may use while it works: cache, progress, threads, resource usage, extras, tables of text."""

from kedge.context.compiled import compile_cache, ensure_compile_cache
from kedge.context.extras import EXTRAS, missing_libraries, need_extra
from kedge.context.installation import describe_installation
from kedge.context.machine import (
    cores,
    cpu_seconds,
    memory,
    one_blas_thread,
    one_thread,
    peak_mb,
    resident_mb,
    reuse_freed_memory,
)
from kedge.context.run_context import (
    Cache,
    CacheEntry,
    MemoryCache,
    Noting,
    Progress,
    RunContext,
    Silent,
    Within,
    digest,
    get_or_make,
    spawn_seeds,
)
from kedge.context.text_table import Shown, printable, table_text
from kedge.context.user_files import STDIN, UserFile, user_file
