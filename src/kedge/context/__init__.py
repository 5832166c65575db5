"""What every stage may use while it works: progress, threads, and a cache of finished pieces."""

from kedge.context.keys import digest
from kedge.context.progress import Progress, Silent
from kedge.context.run_context import Cache, CacheEntry, RunContext, get_or_make
from kedge.context.seeds import spawn_seeds
from kedge.context.threads import one_blas_thread, one_thread
from kedge.context.usage import cores, cpu_seconds, memory, peak_mb, resident_mb

__all__ = [
    "Cache",
    "CacheEntry",
    "Progress",
    "RunContext",
    "Silent",
    "cores",
    "cpu_seconds",
    "digest",
    "get_or_make",
    "memory",
    "one_blas_thread",
    "one_thread",
    "peak_mb",
    "resident_mb",
    "spawn_seeds",
]
