"""The pictures of the documentation, made from a run on the spot: `make screenshots`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from kedge.cli.chromium import open_browser

IMAGES = Path(__file__).parent / "images"
# (file, width, height, scheme, scrolled to)
SHOTS = (
    ("report.png", 1280, 1330, "light", "body"),
    ("report-errors.png", 1280, 1180, "dark", "#errors"),
    ("report-phone.png", 390, 844, "light", ".explorer"),
)


def main() -> None:
    """Plant a pair, match it, and take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data, run = Path(folder) / "data", Path(folder) / "run"
        kedge = [sys.executable, "-m", "kedge"]
        # Half of the pairs are known and the networks overlap much, so that every part of the report has something.
        planted = ["--nodes", "2500", "--overlap", "0.9", "--train", "0.5"]
        subprocess.run(
            [*kedge, "synth", "-o", str(data), "-q", "--json", *planted], check=True, stdout=subprocess.DEVNULL
        )
        files = [str(data / f"{name}.tsv") for name in ("left", "right", "train", "test")]
        words = ["match", files[0], files[1], "--anchors", files[2], "--test", files[3], "-o", str(run), "-q", "--json"]
        subprocess.run([*kedge, *words], check=True, stdout=subprocess.DEVNULL)
        with open_browser() as browser:
            for name, width, height, scheme, place in SHOTS:
                browser.size(width, height)
                browser.prefer(scheme)
                browser.open((run / "report.html").as_uri())
                browser.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
                browser.evaluate(f"document.querySelector('{place}').scrollIntoView()")
                image = browser.picture()
                (IMAGES / name).write_bytes(image)
                print(f"{name}: {len(image) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
