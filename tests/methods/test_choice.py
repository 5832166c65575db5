"""The choice among a method's settings by validation anchors."""

from __future__ import annotations

import numpy as np
from graphs import communities
from scipy.sparse import csr_array

from kedge.linalg import SparseAlignment
from kedge.methods.shared.choice import choose_setting
from kedge.types import Problem


def test_few_anchors_choose_nothing_and_many_choose_what_ranks_them_best() -> None:
    network = communities(60, 6, 0.5, 0.02, 3)
    anchors = np.column_stack([np.arange(60)] * 2)
    tried = []

    def align(problem: Problem, setting: str) -> SparseAlignment:
        """Scores under which the setting "b" finds all accounts and "a" none; validation anchors are removed."""
        tried.append(setting)
        assert len(problem.anchors) == 44
        return SparseAlignment(csr_array(np.eye(60) if setting == "b" else np.eye(60)[::-1].copy()))

    assert choose_setting(Problem(network, network, anchors[:40]), "ab", align, 0) == "a"
    assert tried == []
    assert choose_setting(Problem(network, network, anchors[:55]), "ab", align, 0) == "b"
    assert tried == ["a", "b"]
