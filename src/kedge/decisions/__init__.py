"""Decisions of reviewers: replay of the log, agreement, and what the next match learns from them."""

from kedge.decisions.agreement import Agreement, agreement
from kedge.decisions.learn import Learned, learn
from kedge.decisions.replay import PURGE, UNDO, VERDICTS, Contradiction, Entry, Pair, Settled, State, replay

__all__ = [
    "PURGE",
    "UNDO",
    "VERDICTS",
    "Agreement",
    "Contradiction",
    "Entry",
    "Learned",
    "Pair",
    "Settled",
    "State",
    "agreement",
    "learn",
    "replay",
]
