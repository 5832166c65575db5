"""Decisions of reviewers: replay of the log, agreement, and what the next match learns from them."""

from kedge.answers.replay import (
    AUDIT,
    PURGE,
    UNDO,
    VERDICTS,
    Agreement,
    Contradiction,
    Entry,
    Pair,
    Resolved,
    State,
    agreement,
    replay,
)
