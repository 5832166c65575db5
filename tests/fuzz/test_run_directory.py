"""A flipped bit in any file of a run is noticed by every command that reads the file, or changes nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from flipped_bits import Flips, readers

from kedge.store import Draft, record_purged

ASSETS = Path(__file__).parents[1] / "assets"
NEWEST = ASSETS / "run-format-6"
PAIR = ASSETS / "run-format-4" / "pair"
FLIPS = int(os.environ.get("KEDGE_FUZZ", "150"))


@pytest.fixture(scope="module", params=["kedge", "mgcn"])
def flips(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Flips:
    run = Path(shutil.copytree(NEWEST / request.param, tmp_path_factory.mktemp("flips") / "run"))
    # A list of purged accounts is part of it. A purge would remove the vectors.
    draft = Draft(run)
    record_purged(run, draft, 0, "someone")
    draft.commit()
    return Flips(run, readers(PAIR / "test.tsv"))


def test_every_flipped_bit_is_noticed_or_without_effect(flips: Flips) -> None:
    flips.flip_some(FLIPS, np.random.default_rng(FLIPS))
    assert not flips.wrong, "\n".join(flips.wrong[:10])
    assert flips.fates["noticed"] > FLIPS // 3
