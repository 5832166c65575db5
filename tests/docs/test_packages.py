"""What is handed out: the citation, the container's recipe and the extras agree with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import yaml
from packaging.specifiers import SpecifierSet

import kedge

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DOCKERFILE: Final = (ROOT / "Dockerfile").read_text("utf-8")


def test_the_citation_is_valid_and_of_this_version() -> None:
    """The keys that version 1.2.0 of the Citation File Format requires, and only those that it has."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    known = {"cff-version", "message", "title", "authors", "type", "abstract", "version", "license", "keywords"}
    assert citation.keys() <= known | {"references", "doi", "date-released", "repository-code", "url"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == PROJECT["version"] == kedge.__version__
    assert citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    assert PROJECT["urls"]["Paper"].endswith(paper["doi"])
    for author in (*citation["authors"], *paper["authors"]):
        assert author.keys() == {"name"} or author.keys() == {"given-names", "family-names"}


def test_the_container_is_small_pinned_and_without_rights() -> None:
    """`make package` has hadolint check the rest."""
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(images) == 2
    assert len(set(images)) == 1
    version = re.fullmatch(r"python:(\d+\.\d+\.\d+)-slim-\w+", images[0])
    assert version is not None, "an exact version, of the small image"
    assert version[1] in SpecifierSet(PROJECT["requires-python"])
    assert "-c constraints.txt" in DOCKERFILE
    assert re.search(r"^USER 1000:1000$", DOCKERFILE.partition("AS build")[2], re.MULTILINE)
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', DOCKERFILE)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
    copied = {word for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}
    allowed = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


def test_the_extras_of_the_guide_are_those_of_the_package() -> None:
    text = (ROOT / "docs" / "start" / "install.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert listed == PROJECT["optional-dependencies"].keys() - {"dev", "docs"}
