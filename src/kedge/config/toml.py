"""A configuration as TOML."""

from __future__ import annotations

import json

from pydantic import BaseModel

from kedge.config.stage import Stage

__all__ = ["to_toml"]


def to_toml(config: Stage, help_lines: bool = True) -> str:
    """The configuration as TOML, with a comment above each field that says what it does."""

    def write(model: BaseModel, table: str) -> list[str]:
        lines: list[str] = []
        nested: list[tuple[str, BaseModel]] = []
        for name, info in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, BaseModel):
                nested.append((name, value))
                continue
            if help_lines and info.description:
                lines.append(f"# {info.description}")
            if value is None:
                lines.append(f"# {name} is not set")
            else:
                # JSON's numbers, strings, booleans and lists are TOML's too.
                lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        for name, child in nested:
            path = f"{table}{name}"
            lines += ["", f"[{path}]", *write(child, f"{path}.")]
        return lines

    return "\n".join(write(config, "")) + "\n"
