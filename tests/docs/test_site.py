"""The site: it builds without a broken link, loads nothing from elsewhere, and can be read by all, on a phone too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from accessibility import Scheme, axe_script, serious_findings

from kedge.cli import COMMANDS
from kedge.config import Config, flatten

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT: Final = Path(__file__).parents[2]
LOOKED_AT: Final = (
    "index.html",
    "start/quick-start.html",
    "concepts.html",
    "guide/privacy.html",
    "python.html",
    "reference/commands.html",
    "reference/settings.html",
    "accuracy.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site: links, also to places within pages, are checked by the builder."""
    pytest.importorskip("material", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    code = "import sys, pathlib, build_site; print(build_site.build(pathlib.Path(sys.argv[1])), end='')"
    built = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT / "docs", capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return Path(built.stdout)


def test_every_command_and_every_setting_is_in_the_reference(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert [name for name in COMMANDS if f'id="{name}"' not in commands] == []
    settings = (site / "reference" / "settings.html").read_text("utf-8")
    assert [name for name in flatten(Config().model_dump()) if f"<code>{name}</code>" not in settings] == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(https?:)?//[^>]*>""")
    found = {hit[0] for page in site.rglob("*.html") for hit in loaded.finditer(page.read_text("utf-8"))}
    assert found == set()
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert not [hit for text in styles for hit in re.findall(r"@import|url\(['\"]?https?:", text)]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_pages_have_no_serious_finding_and_fit(chromium: Browser, site: Path, scheme: Scheme, width: int) -> None:
    script = axe_script()
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(120_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in LOOKED_AT:
        page.goto((site / name).as_uri())
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert serious_findings(page, script) == [], name
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_search_works_without_a_server(chromium: Browser, site: Path) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.goto((site / "index.html").as_uri())
    page.fill(".md-search__input", "counterpart")
    page.wait_for_selector(".md-search-result__item", state="attached")
    assert page.locator(".md-search-result__item").count() > 3
    page.close()
