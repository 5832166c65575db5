"""The site: pages of docs/ and pages made from the code, put together and built. `make site`; `--serve` shows it.

Pages are put into build/pages first, so that what is made never stands among what is written, and so that another
builder can take the place of mkdocs (decision 54).
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import reference_pages

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
# A page of the repository that the site has under another name.
_ELSEWHERE: Final = {"../README.md#what-it-reads": "guide/inputs.md"}
# An SVG that stands alone in a paragraph: drawn into the page, so that it takes the page's colours.
_PICTURE: Final = re.compile(r"^!\[([^\]]*)\]\(([\w./-]+\.svg)\)$", re.MULTILINE)


def inline_pictures(text: str, folder: Path) -> str:
    """Markdown with its SVG files drawn into it, each with its description."""

    def draw(found: re.Match[str]) -> str:
        svg = (folder / found[2]).read_text("utf-8")
        svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
        return f'<figure class="picture" markdown="0">{" ".join(svg.split())}</figure>'

    return _PICTURE.sub(draw, text)


def stage(pages: Path) -> None:
    """All pages of the site into one folder: those that are written, and those made from the code."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "__pycache__", "pictures"))
    for page in DOCS.rglob("*.md"):
        text = page.read_text("utf-8")
        made = inline_pictures(text, page.parent)
        for link, own in _ELSEWHERE.items():
            made = made.replace(f"]({link})", f"]({own})")
        made += reference_pages.origins(DOCS, page.relative_to(DOCS).as_posix())
        if made != text:
            (pages / page.relative_to(DOCS)).write_text(made, "utf-8")
    for name, text in reference_pages.make(DOCS).items():
        (pages / name).parent.mkdir(exist_ok=True)
        (pages / name).write_text(text, "utf-8")


def build(folder: Path) -> Path:
    """The built site within a folder; a broken link, or a page that no menu has, ends it with what is wrong."""
    pages, site = folder / "pages", folder / "site"
    stage(pages)
    places = {"INHERIT": ROOT / "mkdocs.yml", "docs_dir": pages, "site_dir": site}
    config = folder / "mkdocs.yml"
    config.write_text("".join(f"{name}: {json.dumps(str(path))}\n" for name, path in places.items()), "utf-8")
    # Without the variable its note about its own future is printed with every build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(config)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    (
        site / "404.html"
    ).unlink()  # for a server at the root of a host; read from a disk it finds neither styles nor scripts
    return site


def main() -> None:
    """Build the site, and serve it where that is asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--serve", action="store_true", help="show it at http://127.0.0.1:8000 until ^C")
    serve = parser.parse_args().serve
    site = build(ROOT / "build")
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    print(f"{site.relative_to(ROOT)}: {len(list(site.rglob('*.html')))} pages, {size / 1e6:.1f} MB; open index.html")
    if serve:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
        http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler).serve_forever()


if __name__ == "__main__":
    main()
