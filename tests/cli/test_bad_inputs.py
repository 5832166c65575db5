"""Every bad input ends in one line that names it, with exit code 2, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from refused_inputs import Bad, all_cases, fault_of, write_good

CASES = all_cases()


@pytest.mark.parametrize("bad", CASES, ids=[f"{bad.given_as}: {bad.name}"[:60] for bad in CASES])
def test_a_bad_input_is_refused_in_one_line(tmp_path: Path, bad: Bad) -> None:
    write_good(tmp_path)
    assert fault_of(bad, tmp_path) is None
