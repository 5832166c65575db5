"""Answers of reviewers: replay of the log, agreement, what the next match learns from them, and samples of an audit."""

from kedge.answers.audit import ANSWERS, STRATA, Sample, audit_estimate, audit_sentence, draw
from kedge.answers.replay import (
    AUDIT_PREFIX,
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
