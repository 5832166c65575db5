"""The words of the house: what names, help, notes, comments and documents call a thing.

The left column of the glossary is a private language that a reader would have to learn. Each entry of `INSTEAD` is a
pattern of it and the field's own term. Decision records are history and are not read here.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "src" / "kedge"

# "a line a field", "34 µs an edge": what is counted, then a second article, then the unit.
_COUNTED: Final = (
    "line|row|file|chart|column|entry|record|stamp|one|once|twice|times|sentence|oracle|picture|idea|word|test|"
    "seconds?|minutes?|hours?|s|ms|µs|MB|GB|bytes?|accounts|candidates|friends|edges|walks|samples|pairs|parts|numbers?"
)
_UNITS: Final = (
    "account|anchor|cell|chart|core|day|edge|entry|field|file|folder|fold|hyperedge|idea|job|line|metric|method|module|"
    "name|network|node|pair|part|piece|process|quantity|record|round|row|run|seed|setting|side|source|split|stage|step|"
    "sweep|test|thread|time|worker"
)

# What may not be written, and what is written instead. Names are split at underscores first: `held_back`.
INSTEAD: Final[dict[str, str]] = {
    r"hear(s|d|ing)?": "score, propagate, read",
    r"(speaks?|speaking|spoken?)": "score, count, evidence for or against",
    r"(tells?|told|telling)": "show, report, given",
    r"(says|said)": "show, state, is; predicted; stated",
    r"settl(e|es|ed|ing)": "choose settings, resolved settings",
    r"workshops?": "run context",
    r"(shelf|shelves)": "cache",
    r"(laid|(lay|lays|laying) (\w+ ){0,3}(over|together))": "align, projected, put together",
    r"nearness": "vector similarity",
    r"pairing\.turns": "pairing.refinements",
    r"held(-| )back": "validation anchors, or held-out pairs for the user's test set",
    r"(hidden|left(-| )out|unseen) (anchors?|pairs?)": "validation anchors, or held-out pairs",
    r"bereft": "no counterpart",
    r"lone": "no counterpart, single",
    r"nobody": "no account, no counterpart",
    r"guests?": "halo accounts",
    r"fore(see|sees|seen|saw|seeing)": "predict",
    r"every word": "commands",
    rf"({_COUNTED}) an? ({_UNITS})": "one line per field",
}
# As an identifier `turns` counted refinements; in a sentence it is plain English.
NAMES_ONLY: Final[dict[str, str]] = {r"turns": "refinements"}

# (pattern of INSTEAD's own words, place, why it stays). A place is a path, or the beginning of one.
ALLOWED: Final[tuple[tuple[str, str, str], ...]] = (
    ("pairing.turns", "src/kedge/config/config.py", "the old name, which users' files may still have"),
    ("turns", "src/kedge/config/config.py", "the same"),
    ("nearness", "src/kedge/config/config.py", "an old value of pairing.score"),
    ("pairing.turns", "CHANGELOG.md", "the same, for readers who look for it"),
    ("nearness", "CHANGELOG.md", "the same"),
    ("settled", "src/kedge/store/layout.py", "a file of runs that earlier versions made"),
    ("said", "src/kedge/store/renamed.py", "a key in files of earlier versions"),
)


class Found(NamedTuple):
    """A word that should be another one."""

    place: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.word!r} -> {self.instead}"


def _split(name: str) -> str:
    """`held_back` and `heldBack` as words."""
    return " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)).lower()


def _in_text(text: str, place: str, line: int = 1, patterns: dict[str, str] = INSTEAD) -> Iterator[Found]:
    for pattern, instead in patterns.items():
        # A phrase may go on in the next line, behind a comment's sign or a list's indentation.
        spaced = pattern.replace(" ", r"[\s#*]+") if " " in pattern else pattern
        for match in re.finditer(rf"(?<!\w){spaced}(?!\w)", text, re.IGNORECASE):
            word = " ".join(match[0].split())
            allowed = any(word.lower() == own and place.startswith(where) for own, where, _ in ALLOWED)
            if not allowed:
                yield Found(place, line + text[: match.start()].count("\n"), word, instead)


def _in_python(path: Path, place: str) -> Iterator[Found]:
    source = path.read_text(encoding="utf-8")
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield from _in_text(_split(token.string), place, token.start[0], {**INSTEAD, **NAMES_ONLY})
        elif token.type == tokenize.STRING:
            yield from _in_text(token.string, place, token.start[0])
        elif token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.string))
    # Comments of consecutive lines are one text.
    lines = [""] * (source.count("\n") + 2)
    for number, comment in comments:
        lines[number - 1] = comment
    yield from _in_text("\n".join(lines), place)


def _in_file(path: Path) -> Iterator[Found]:
    place = path.relative_to(ROOT).as_posix()
    if path.suffix == ".py":
        yield from _in_python(path, place)
    else:
        # Decision records keep their names, so links to them keep theirs.
        text = re.sub(r"\(decisions/[\w.-]+\)|\(docs/decisions/[\w.-]+\)", "()", path.read_text(encoding="utf-8"))
        yield from _in_text(text, place)
    yield from _in_text(_split(path.stem), place)


def _rooms() -> dict[str, list[Path]]:
    """Every file that is read here, by room; `tests` is read for the names of its functions alone."""
    rooms: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in {".py", ".js", ".css", ".html", ".toml"}:
            room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
            rooms.setdefault(room, []).append(path)
    rooms["docs"] = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")]
    rooms["docs"] += sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions")
    rooms["docs"] += [*sorted((ROOT / "docs").glob("*.py")), *sorted((ROOT / "examples").glob("*.[ip]*"))]
    return rooms


ROOMS: Final = _rooms()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_written_in_the_fields_own_words(room: str) -> None:
    found = [str(found) for path in ROOMS[room] for found in _in_file(path)]
    assert found == []


def _names_of_tests() -> Iterator[Found]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        yield from _in_text(_split(path.stem), place, patterns={**INSTEAD, **NAMES_ONLY})
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield from _in_text(
                    _split(node.name.removeprefix("test_")), place, node.lineno, {**INSTEAD, **NAMES_ONLY}
                )


def test_tests_are_named_in_the_fields_own_words() -> None:
    assert [str(found) for found in _names_of_tests()] == []


@pytest.mark.parametrize("word", ["held_back", "settledRun", "the shelf", "one line a\nfield", "34 µs an edge", "laid"])
def test_the_glossarys_left_column_is_found(word: str) -> None:
    text = _split(word) if word.isidentifier() else word
    assert list(_in_text(text, "a place"))


@pytest.mark.parametrize("word", ["a line for each field", "layout", "settings", "the path turns north", "alone"])
def test_plain_english_is_not(word: str) -> None:
    assert not list(_in_text(word, "a place"))


@pytest.mark.parametrize("entry", ALLOWED, ids=lambda entry: f"{entry[0]} in {entry[1]}")
def test_what_is_allowed_is_needed(entry: tuple[str, str, str]) -> None:
    word, where, why = entry
    files = [path for path in (ROOT / where, *(ROOT / where).rglob("*")) if path.is_file()]
    assert why
    assert any(word in path.read_text(encoding="utf-8").lower() for path in files), f"{where} has no {word!r} any more"


if __name__ == "__main__":  # `python tests/docs/test_words.py ROOM...`: what is left, in these rooms or counted in all
    import sys

    left = {room: [found for path in files for found in _in_file(path)] for room, files in ROOMS.items()}
    left["tests"] = list(_names_of_tests())
    for room, found in left.items():
        if room in sys.argv[1:]:
            print(*found, sep="\n")
        elif found and len(sys.argv) == 1:
            print(f"{len(found):5d} {room}")
