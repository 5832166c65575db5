"""Every setting is read somewhere outside config/, and its help is one line of sensible length."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import kedge
from kedge.config import Config, resolve
from kedge.errors import KedgeError

SOURCE = Path(kedge.__file__).parent


SECTIONS = {
    name: info.annotation
    for name, info in Config.model_fields.items()
    if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
}
HELP = {name: info.description or "" for name, info in Config.model_fields.items()} | {
    f"{section}.{name}": info.description or ""
    for section, model in SECTIONS.items()
    for name, info in model.model_fields.items()
}


@cache
def names_of_files() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """For each file of src outside config/: the attributes that it reads, and all names that it mentions."""
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] != "config":
            nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
            attributes = frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute))
            found.append((attributes, attributes | {node.id for node in nodes if isinstance(node, ast.Name)}))
    return tuple(found)


@pytest.mark.parametrize("setting", HELP)
def test_every_setting_is_read_by_a_file_that_has_its_section(setting: Any) -> None:
    section, _, name = setting.rpartition(".")
    holders = {"Config", "config"} if not section else {section, SECTIONS[section].__name__}
    assert any(name in attributes and holders & mentioned for attributes, mentioned in names_of_files())


@pytest.mark.parametrize("setting", HELP)
def test_every_setting_has_help_of_sensible_length(setting: Any) -> None:
    help_text = HELP[setting]
    assert 8 <= len(help_text) <= 300, f"{setting}: {len(help_text)} characters"
    assert "\n" not in help_text
    assert not help_text.endswith(".")


NUMBERS = {
    f"{section}{name}": info
    for section, model in {"": Config, **{f"{name}.": model for name, model in SECTIONS.items()}}.items()
    for name, info in model.model_fields.items()
    if info.annotation in (int, float, float | None)
}


@pytest.mark.parametrize("setting", NUMBERS)
def test_every_number_has_an_upper_bound_that_its_refusal_names(setting: str) -> None:
    bounds = [getattr(limit, "le", getattr(limit, "lt", None)) for limit in NUMBERS[setting].metadata]
    (bound,) = [bound for bound in bounds if bound is not None]
    assert resolve(assignments=[f"{setting}={_default(setting)}"])
    for far in ("1e18", "9" * 30):
        # 2^63, the bound of seeds, is above 1e18.
        if float(far) > bound:
            with pytest.raises(KedgeError, match=rf"{setting} = .* less than .*{bound:.0f}\b") as caught:
                resolve(assignments=[f"{setting}={far}"])
            assert str(caught.value).isprintable()


def _default(setting: str) -> object:
    *section, name = setting.split(".")
    place = getattr(Config(), section[0]) if section else Config()
    value = getattr(place, name)
    return 0.5 if value is None else value
