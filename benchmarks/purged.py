"""Accounts purged from 50 runs, and every byte of the runs searched for their ids. Goal: none is found.

Ten ids, five of them beyond ASCII, in runs of two methods. Each run is tried in five states: as it is, with decisions
and notes about the account, with files that killed commands left, unfinished, and with a report and other vectors.
Raw bytes are searched, and what the files have when they are decoded; then the same match runs again, and the search.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measuring import ROOT
from reliability import keep

sys.path.insert(0, str(ROOT / "tests" / "support"))
from command import kedge, match_words
from search import places_of

from kedge.store import open_decisions, read_manifest, write_manifest

PAIR = ROOT / "tests" / "assets" / "run-format-4" / "pair"
ALICE, PARTNER = "a000020", "b000007"
IDS = (
    "alice.smith",
    "Jörg-Müß 名前",
    "Ωμέγα",
    "🦊🦊",
    "שלום",
    "A\u030angstro\u0308m",  # letters that may be one character or two; a two-byte id is found in numbers by chance
    "=1+2",
    "<b>&'",
    "C:\\users\\ann",
    "n" * 300,
)
SETTINGS = ("--set", "mgcn.dimensions=16", "--set", "mgcn.steps=20", "--set", "candidates=5", "-q")


def words(number: int, data: Path, run: Path) -> list[object]:
    """The match: every fifth by MGCN, the others by the default method with vectors."""
    method = ("--method", "mgcn") if number % 5 == 4 else ("--set", "pairing.use=yes", "--set", "pairing.vectors=mgcn")
    return match_words(data, run, *method, *SETTINGS)


def decide(run: Path, pair: tuple[str, str], name: str) -> None:
    log = open_decisions(run)
    log.append("ann", "yes", *pair, note=f"{name} it is")
    log.undo("ann")
    log.append("ann", "no", *pair, note=f"not {name}")
    log.append("ann", "unsure", "a000056", "b000018")
    log.close()


def leave_files(run: Path, _pair: tuple[str, str], name: str) -> None:
    for place in (".", "model", "networks"):
        (run / place / ".kedge-tmp-killed").write_text(name, "utf-8")
    (run / ".purge-draft" / "files").mkdir(parents=True)
    (run / ".purge-draft" / "files" / "networks").write_text(name, "utf-8")


def stop_early(run: Path, _pair: tuple[str, str], _name: str) -> None:
    manifest = read_manifest(run)
    for stage in ("calibration", "matches"):
        (run / manifest["stages"].pop(stage)["artefact"]).unlink()
    write_manifest(run, manifest)


def add_vectors(run: Path, _pair: tuple[str, str], name: str) -> None:
    kedge("report", run)
    (run / "embeddings" / "other.safetensors").write_text(name, "utf-8")


STATES: tuple[Callable[[Path, tuple[str, str], str], object], ...] = (
    lambda *_: None,
    decide,
    leave_files,
    stop_early,
    add_vectors,
)


def main() -> None:
    runs = searched = before = after = again = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(IDS):
            place = Path(folder) / str(number)
            data = Path(shutil.copytree(PAIR, place / "data"))
            on_left = number % 2 == 0
            pair = (name, PARTNER) if on_left else (ALICE, name)
            for file in data.iterdir():
                file.write_text(file.read_text("utf-8").replace(ALICE if on_left else PARTNER, name), "utf-8")
            kedge(*words(number, data, place / "made"))
            for state in STATES:
                run = Path(shutil.copytree(place / "made", place / "run"))
                state(run, pair, name)
                before += len(places_of(run, name)) > 0
                kedge("purge", "--yes", run, name)
                after += len(places_of(run, name))
                searched += sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
                kedge(*words(number, data, run))
                again += len(places_of(run, name))
                shutil.rmtree(run)
                runs += 1
    print(f"{runs} runs, of which {before} had the id in a file; {searched / 1e6:.0f} MB searched after the purge")
    print(f"files with a byte of the id: {after} after the purge, {again} after matching the same inputs again")
    keep(
        "purge",
        "an account purged, then all bytes and decoded contents of the run searched for its id",
        f"{runs} runs, {len(IDS)} ids, five of them beyond ASCII",
        f"{after} files with the id after the purge, {again} after matching the same inputs again",
        "python benchmarks/purged.py",
    )
    sys.exit(1 if after or again or before != runs else 0)


if __name__ == "__main__":
    main()
