"""The blocks of a round: left accounts scored a block at a time, here or on a cluster, and what all found together.

A block is a run of left accounts. `score_block` is a pure function of the round's inputs and the block, so blocks
may be computed anywhere, in any order, and again; lists of best candidates do not depend on the order of offers. So
the result has the same bytes for any number of blocks. Three places:

    in memory     one block, divided among threads (round.py); kernels release the interpreter's lock, so that threads
                  do what processes would, without copies
    out of core   blocks one after the other, the lists of each in the cache of the run: a file with a checksum; a
                  damaged one is named and scored again
    on a cluster  a future for each block; what is the same in all rounds is sent once (engine/dask.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from kedge import __version__
from kedge.config import EngineConfig
from kedge.context import Cache, CacheEntry, MemoryCache, Progress, RunContext, Silent, resident_mb
from kedge.engine import Session
from kedge.errors import KedgeError
from kedge.evidence.kernels import BestLists, Current, Entries, Fixed, deal, join, unite
from kedge.evidence.round import MOST_MESSAGES, no_candidates, score_accounts, without_rejected, work_of
from kedge.types import Problem

# Bytes that one round needs, besides both networks and what is the same in all rounds (benchmarks/evidence_blocks.py).
_LIST: Final = 12  # of one candidate in a list: its number and its score
_PAIR: Final = 60  # of one candidate while it becomes a belief
_RESULT: Final = 100  # of one candidate of the result while it is assigned and put back into order
_MESSAGE: Final = 8
_FACTS: Final = 48  # of a right account: what a pair reads of it
IDLE_MB: Final = 250.0  # a process with the libraries loaded
_COUNTS: Final = (2, 4, 8, 16, 32, 64)  # blocks that are tried
_BANDS: Final = (0.0, 4e6, 1e6)  # messages at a time that are tried; 0: as many as are usual
_PER_THREAD: Final = 2  # blocks for each thread of a cluster: few enough to move little, enough to even out


@dataclass(frozen=True)
class Where:
    """Where the blocks of a round are scored, where they lie meanwhile, and where progress is reported."""

    engine: EngineConfig = field(default_factory=EngineConfig)
    cache: Cache = field(default_factory=MemoryCache)
    progress: Progress = field(default_factory=Silent)
    blocks: int = 0  # 0: as many as memory asks for, see `with_blocks`
    band: float = 0.0  # messages at a time; 0: as many as are usual (round.py)

    @classmethod
    def of(cls, engine: EngineConfig, context: RunContext) -> Where:
        """As the settings and the run have it."""
        return cls(engine, context.cache if context.scratch is None else context.scratch, context.progress)


class Block(NamedTuple):
    """The left accounts from the `first` to before the `last`, and how they are scored."""

    first: int
    last: int
    keep: int
    band: float = 0.0
    threads: int = 0
    version: str = __version__


def score_block(block: Block, fixed: Fixed, now: Current) -> dict[str, NDArray[Any]]:
    """The lists of a block as named arrays: of its left accounts, and of all right ones, without empty places."""
    if block.version != __version__:
        raise KedgeError(
            f"a worker has kedge {__version__}, the command has {block.version}", remedy="install the same on both"
        )
    accounts = np.arange(block.first, block.last, dtype=np.int32)
    found = score_accounts(
        fixed, now, accounts, block.keep, first=block.first, size=len(accounts), threads=block.threads, band=block.band
    )
    arrays: dict[str, NDArray[Any]] = {}
    for side, lists in zip(("left", "right"), found, strict=True):
        filled = np.arange(block.keep) < lists.sizes[:, None]
        parts = {"accounts": lists.accounts[filled], "scores": lists.scores[filled], "sizes": lists.sizes}
        arrays |= {f"{side}_{name}": part for name, part in parts.items()}
    return arrays


def lists_of(arrays: Mapping[str, NDArray[Any]], side: str, keep: int) -> BestLists:
    """The lists of one side with their empty places."""
    sizes = arrays[f"{side}_sizes"].astype(np.int64, copy=True)
    lists = no_candidates(len(sizes), keep)
    filled = np.arange(keep) < sizes[:, None]
    lists.accounts[filled] = arrays[f"{side}_accounts"]
    lists.scores[filled] = arrays[f"{side}_scores"]
    return BestLists(lists.accounts, lists.scores, sizes)


def divide(fixed: Fixed, now: Current, keep: int, count: int, band: float = 0.0, threads: int = 0) -> list[Block]:
    """`count` blocks of about equal work; an account counts too, by its list."""
    n = len(fixed.left.indptr) - 1
    work = work_of(fixed, now.beliefs)[1]
    work = work / max(float(work.mean()), 1.0) + 1.0 if n else work
    done = np.concatenate([[0.0], np.cumsum(work)])
    inner = np.searchsorted(done, done[-1] * np.arange(1, count) / count)
    bounds = sorted({0, *np.clip(inner, 0, n).tolist(), n})
    return [Block(low, high, keep, band, threads) for low, high in pairwise(bounds)]


class Sizes(NamedTuple):
    """What the memory of rounds depends on: accounts, ends of edges of the right network, candidates of an account
    between rounds (`keep`) and at the end (`result`)."""

    left: int
    right: int
    ends: int
    keep: int
    result: int


def needed_mb(sizes: Sizes, blocks: int = 1, band: float = 0.0) -> float:
    """The memory of rounds in so many blocks, in MB, besides what this process holds already.

    What stays in memory, however many blocks there are: the lists of the right accounts, and the pairs of the result.
    """
    lists = (2 if blocks == 1 else 3) * sizes.right * sizes.result * _LIST  # one's own, all blocks', those dealt out
    block = sizes.left / blocks * (sizes.result * _LIST + sizes.keep * _PAIR)
    messages = _MESSAGE * min(band or MOST_MESSAGES, float(sizes.ends))
    return float(sizes.right * _FACTS + max(lists + block + messages, sizes.left * sizes.result * _RESULT)) / 1e6


def worker_mb(sizes: Sizes, edges: int, workers: int) -> float:
    """The memory of one thread of a cluster, in MB: both networks, the lists of its block and of all right accounts."""
    networks = 8.0 * edges + 60.0 * (sizes.left + sizes.right)
    lists = (sizes.right + sizes.left / (_PER_THREAD * workers)) * sizes.result * _LIST
    messages = _MESSAGE * min(MOST_MESSAGES, float(sizes.ends))
    return IDLE_MB + (networks + 2 * lists + messages + sizes.right * _FACTS) / 1e6


def with_blocks(where: Where, sizes: Sizes) -> Where:
    """With as many blocks as keep the rounds within the memory limit; one line where none do."""
    limit = where.engine.max_memory_mb
    if where.blocks or limit == 0 or where.engine.name == "dask":
        return replace(where, blocks=where.blocks or 1)
    held = resident_mb()
    tried = [(1, 0.0), *((count, band) for count in _COUNTS for band in _BANDS)]
    for count, band in tried:
        needed = held + needed_mb(sizes, count, band)
        if needed <= limit:
            return replace(where, blocks=count, band=band)
    raise KedgeError(
        f"a block of evidence needs about {needed:,.0f} MB with what is held already, more than --max-memory "
        f"{limit:,.0f} MB",
        remedy="allow more, keep fewer candidates with --set evidence.keep=10, or use --engine dask",
    )


class Round(NamedTuple):
    """The candidates of a round, block by block: the lists of the right accounts dealt out to left rows, and the lists
    of each block's left accounts, from wherever they lie."""

    problem: Problem
    blocks: list[Block]
    dealt: Entries
    left: list[Any]

    def parts(self) -> Iterator[tuple[int, csr_array]]:
        """(first account, L of the block's rows) of each block; as often as wanted."""
        for block, held in zip(self.blocks, self.left, strict=True):
            lists = held()
            indptr, indices, data = unite(lists, self.dealt, block.first)
            shape = (block.last - block.first, self.problem.right.n)
            yield block.first, without_rejected(csr_array((data, indices, indptr), shape), self.problem, block.first)

    def without_lists(self) -> Round:
        """The blocks alone."""
        nothing = Entries(*(np.zeros(0) for _ in range(3)))
        return self._replace(dealt=nothing, left=[])

    def whole(self) -> csr_array:
        """L of all left accounts."""
        parts = [L for _, L in self.parts()]
        return parts[0] if len(parts) == 1 else csr_array(vstack(parts, format="csr"))


def run_round(
    problem: Problem, fixed: Fixed, now: Current, keep: int, where: Where, key: str = "", session: Session | None = None
) -> Round:
    """Score all left accounts, in as many blocks as the place asks for; `key` names the round in the cache."""
    if session is not None:
        blocks = divide(fixed, now, keep, max(1, _PER_THREAD * session.threads()), threads=1)
        return _on_cluster(problem, fixed, now, blocks, session)
    blocks = divide(fixed, now, keep, max(where.blocks, 1), where.band)
    if len(blocks) == 1:
        (block,) = blocks
        accounts = np.arange(problem.left.n, dtype=np.int32)
        of_left, of_right = score_accounts(fixed, now, accounts, keep, size=problem.left.n, band=block.band)
        return Round(problem, blocks, deal(of_right, problem.left.n), [lambda: of_left])
    return _out_of_core(problem, fixed, now, blocks, where, key)


def _on_cluster(problem: Problem, fixed: Fixed, now: Current, blocks: list[Block], session: Session) -> Round:
    keep = blocks[0].keep
    of_right = no_candidates(problem.right.n, keep)
    left: list[Any] = [None] * len(blocks)
    for place, arrays in session.run(score_block, blocks, (fixed, now)):
        join(of_right, lists_of(arrays, "right", keep))
        lists = lists_of(arrays, "left", keep)
        left[place] = lambda lists=lists: lists
    return Round(problem, blocks, deal(of_right, problem.left.n), left)


def _out_of_core(problem: Problem, fixed: Fixed, now: Current, blocks: list[Block], where: Where, key: str) -> Round:
    """Block after block; a block that an interrupted command has left in the cache is not scored again."""
    keep = blocks[0].keep

    def of_block(place: int) -> Mapping[str, NDArray[Any]]:
        block = blocks[place]
        name = block_key(key, block)
        held = where.cache.get(name)
        if held is None:
            held = CacheEntry(score_block(block, fixed, now))
            where.cache.put(name, held)
        return held.arrays

    of_right = no_candidates(problem.right.n, keep)
    for place in range(len(blocks)):
        join(of_right, lists_of(of_block(place), "right", keep))
        where.progress.advance(place + 1, len(blocks), "blocks of a round")
    dealt = deal(of_right, problem.left.n)
    left = [lambda place=place: lists_of(of_block(place), "left", keep) for place in range(len(blocks))]
    return Round(problem, blocks, dealt, left)


def block_key(key: str, block: Block) -> str:
    """The name of a block in the cache."""
    return f"{key}-{block.first}-{block.last}"


def drop_blocks(blocks: list[Block], where: Where, key: str) -> None:
    """Remove what a finished round left in the cache."""
    if len(blocks) > 1:
        where.cache.drop([block_key(key, block) for block in blocks])
