"""The registry of input formats: each has its row in the README."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kedge.errors import KedgeError
from kedge.ingest import read_network
from kedge.ingest.read import FORMATS

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("kind", FORMATS, ids=[kind.name for kind in FORMATS])
def test_every_input_format_has_a_row_in_the_readme(kind: Any) -> None:
    assert f"| {kind.name} | {kind.help} |" in README.read_text("utf-8").splitlines()


def test_an_object_of_no_known_format_is_refused_with_what_is_known() -> None:
    with pytest.raises(KedgeError, match="cannot read a network or pairs from builtins.int; give a path"):
        read_network(7)
