"""Tables of docs/mgcn.md and docs/few-anchors.md that are made from kept figures have the figures that are kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = {
    "mgcn_matching": "m.page(m.read_rows(m.KEPT))",
    "mgcn_links": "m.page(m.read_rows(m.KEPT))",
    "hypergraph_auto": "'\\n'.join(m.page(m.read_rows(m.KEPT))) + '\\n'",
    "shared_prior": "m.page(m.read_rows(m.KEPT))",
}


@pytest.mark.parametrize("maker", SHOWN)
def test_the_tables_are_made_from_what_is_kept(maker: str) -> None:
    show = f"import {maker} as m; print({SHOWN[maker]}, end='')"
    made = subprocess.run(
        [sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True
    ).stdout
    shown = f"<!-- begin: made by benchmarks/{maker}.py -->\n{made}<!-- end -->\n"
    page = "few-anchors.md" if maker == "shared_prior" else "mgcn.md"
    assert shown in (ROOT / "docs" / page).read_text("utf-8"), f"run: python benchmarks/{maker}.py --page"
