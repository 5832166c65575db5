"""Print the exact version of everything that `kedge[dev]` needs here, as a constraints file.

Versions alone, without origins: torch's CPU build comes from another place than the rest. Libraries that only other
systems need are not installed here and so are not in the list.
"""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(requirements: list[str], optional: dict[str, list[str]]) -> dict[str, str]:
    """The installed version of each requirement and of all that it requires, by name."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name == "kedge":
            waiting += [Requirement(line) for extra in one.extras for line in optional[extra]]
            continue
        held = metadata.distribution(name)
        found[name] = held.version.partition("+")[0]
        for extra in {"", *one.extras}:
            if (name, extra) not in seen:
                seen.add((name, extra))
                needs = (Requirement(line) for line in held.requires or ())
                waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return found


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    pins = closure([*project["dependencies"], "kedge[dev]"], project["optional-dependencies"])
    print("# Written by `make lock`: what the tests last passed with. torch is the CPU build: a newer one brings CUDA.")
    for name, version in sorted(pins.items()):
        print(f"{name}=={version}")
