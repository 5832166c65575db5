"""axe-core on a page in Chromium; it comes with a development dependency, never with kedge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["Scheme", "axe_script", "serious_findings"]

Scheme = Literal["light", "dark"]

_RUN = "axe.run(document, { resultTypes: ['violations'] })"


def axe_script() -> str:
    """The checker's source; the test skips where it is not installed."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    return Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")


def serious_findings(page: Page, script: str) -> list[tuple[str, str]]:
    """What axe-core calls serious or critical on a Playwright page: the rule, and an element that breaks it."""
    page.evaluate(script)
    return [
        (found["id"], found["nodes"][0]["html"][:150])
        for found in page.evaluate(_RUN)["violations"]
        if found["impact"] in ("serious", "critical")
    ]
