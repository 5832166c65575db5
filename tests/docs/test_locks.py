"""The locks: the same versions as constraints.txt, with hashes, no place of download, and above the bounds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PINS = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each library."""
    text = (ROOT / "locks" / f"{name}.txt").read_text()
    found = re.findall(
        r"^([\w.-]+)==([^ ;]+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}[ \\]*\n)+)", text, re.MULTILINE
    )
    assert len(found) == len(re.findall(r"^[a-z]", text, re.MULTILINE)), "a version without hashes"
    return {library: (version, hashes.count("--hash")) for library, version, hashes in found}


def names(*extras: str) -> set[str]:
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    return {canonicalize_name(Requirement(line).name) for lines in lists for line in lines}


@pytest.mark.parametrize(
    ("file", "needed"),
    [("core", names()), ("extras", names("mgcn", "plots", "review", "cluster", "xlsx", "profiles") - {"torch"})],
)
def test_a_lock_has_all_that_is_needed_in_the_versions_of_the_constraints(file: str, needed: set[str]) -> None:
    found = locked(file)
    assert needed <= set(found)
    assert {name: version for name, (version, _) in found.items() if PINS.get(name, version) != version} == {}
    assert [name for name in found if name not in PINS] == []


@pytest.mark.parametrize("file", ["constraints.txt", "locks/core.txt", "locks/extras.txt", ".ci/tools.txt"])
def test_no_file_names_a_place_of_download(file: str) -> None:
    assert not re.search(r"://|index-url|find-links|trusted-host", (ROOT / file).read_text())


def test_the_constraints_are_above_every_lower_bound() -> None:
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for one in map(Requirement, lines):
            if one.name != "kedge":
                assert PINS[canonicalize_name(one.name)] in one.specifier, str(one)
