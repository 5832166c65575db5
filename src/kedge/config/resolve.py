"""From preset, file and options to one configuration, and back to TOML.

Unknown keys are refused with the nearest known one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from kedge.config.config import FORMER, PRESETS, RENAMED, Config, rename_settings
from kedge.config.networks import Stage
from kedge.context import user_file
from kedge.errors import KedgeError, as_share, did_you_mean

_LARGEST_FILE: Final = 1 << 16  # bytes; all settings with their help are a quarter of that
_LONGEST: Final = 200  # characters of a name or value in a message
# A name of very many parts: reading it takes time that grows with their square.
_DEEP_NAME: Final = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){32}""")


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as `{"stage.field": value}`."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings as nested ones."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, leaf = path.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise KedgeError(f"setting {path!r}: {parent!r} is a value, not a group of settings")
        place[leaf] = value
    return nested


def _parse_assignment(text: str) -> tuple[str, Any]:
    """`a.b=c` with c read as a TOML value, or as plain text where it is none."""
    path, equals, raw = text.partition("=")
    if not equals or not path.strip():
        raise KedgeError(f"--set {text!r} is not of the form name=value", remedy="write e.g. --set read.header=no")
    try:
        value = tomllib.loads(f"value = {raw}")["value"]
    except (ValueError, RecursionError):
        value = raw.strip()
    return path.strip(), value


def _load(path: Path) -> dict[str, Any]:
    file = user_file(path, _LARGEST_FILE, remedy="give a TOML file of settings, as `kedge config` prints it")
    with file.open() as opened:
        content = opened.read(_LARGEST_FILE)
    return _parse(content, path)


def _parse(content: bytes, path: Path) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
        if _DEEP_NAME.search(text):
            raise RecursionError
        return flatten(tomllib.loads(text))
    except UnicodeDecodeError:
        raise KedgeError("is not UTF-8 text", file=path, remedy="save it as UTF-8") from None
    except RecursionError:
        raise KedgeError("is nested too deeply", file=path, remedy="see `kedge config` for the form") from None
    except ValueError as error:  # of TOML, or a number with thousands of digits
        reason = str(error).partition(":")[0] if "digits" in str(error) else str(error)
        raise KedgeError(f"is not valid TOML ({reason})", file=path, remedy="see `kedge config` for the form") from None


def resolve(
    preset: str = "default",
    file: Path | None = None,
    assignments: Iterable[str] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration from preset, then file, then `--set`, then named options; the later wins."""
    if preset not in PRESETS:
        remedy = did_you_mean(preset, PRESETS, f"choose one of: {', '.join(PRESETS)}")
        raise KedgeError(f"no preset {preset!r}", remedy=remedy)
    layers = [(f"preset {preset}", flatten(PRESETS[preset]))]
    layers += [] if file is None else [(str(file), _load(file))]
    layers += [(f"--set {text}", dict([_parse_assignment(text)])) for text in assignments]
    layers.append(("option", dict(overrides or {})))
    known = sorted(flatten(Config().model_dump()))
    for origin, layer in layers:
        for path in layer:
            _refuse_unknown(path, known, origin)
    flat = {path: value for _, layer in layers for path, value in layer.items()}
    origins = {path: origin for origin, layer in layers for path in layer}
    try:
        return Config.model_validate(nest(flat))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        whole = ".".join(part for part in first["loc"] if isinstance(part, str))  # without places in a list
        # What contradicts another setting is named by its group: the last that set one of it is the origin.
        origin = next(
            (name for place, name in [*origins.items()][::-1] if f"{place}.".startswith(f"{whole}.")), "preset"
        )
        raise KedgeError(
            f"{_short(origin)}: {path} = {_short(first['input'])} is refused: {first['msg'].lower()}",
            remedy=_remedy(first),
        ) from None


def _remedy(error: Mapping[str, Any]) -> str:
    """What to do about a value that is refused: a share in percent is the likeliest."""
    number = error["input"] if isinstance(error["input"], int | float) else 0
    most = error.get("ctx", {}).get("le")
    return as_share(number, "see `kedge config`") if most == 1 else "see `kedge config`"


def _short(value: Any) -> str:
    """A value as a line may show it: numbers and texts of any length come from files and options."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # an integer of thousands of digits
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "a value"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _refuse_unknown(path: str, known: list[str], origin: str) -> None:
    if RENAMED.get(path) is not None:
        raise KedgeError(f"{origin}: {path!r} has another name now", remedy=f"write {RENAMED[path]!r}")
    if path not in known:
        remedy = did_you_mean(path, known, "see `kedge config` for the known ones", 0.4)
        raise KedgeError(f"{_short(origin)}: no setting {_short(repr(path))}", remedy=remedy)


def stored_config(settings: Mapping[str, Any]) -> Config:
    """The configuration that an earlier version stored; settings that it did not know have their defaults,
    or what it did without them."""
    flat = rename_settings(flatten(settings))
    return Config.model_validate(nest({**FORMER.get(flat.get("method", ""), {}), **flat}))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two dumped configurations, one line for each: `name: old -> new`."""
    before, after = flatten(old), flatten(new)
    return [
        f"{key}: {before.get(key, '(absent)')} -> {after.get(key, '(absent)')}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def to_toml(config: Stage, help_lines: bool = True, section: str = "") -> str:
    """The configuration as TOML, with one comment line of help above each setting."""
    lines, sections = [], []
    for name, info in type(config).model_fields.items():
        value = getattr(config, name)
        if isinstance(value, Stage):
            sections.append(f"\n[{section}{name}]\n{to_toml(value, help_lines, f'{section}{name}.')}")
            continue
        if help_lines:
            lines.append(f"# {info.description}\n")
        # JSON's numbers, strings, booleans and lists are TOML's too.
        text = json.dumps(value, ensure_ascii=False)
        lines.append(f"# {name} is not set\n" if value is None else f"{name} = {text}\n")
    return "".join(lines + sections)
