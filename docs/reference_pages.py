"""The pages of the site that are made from the code: commands, settings, Python, decisions and measurements."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import typer

import kedge
from kedge.cli import COMMANDS, app
from kedge.config import PRESETS, Config, flatten
from kedge.config.networks import Stage

_MADE = "Made from the code by `docs/reference_pages.py` when the site is built."


def make(docs: Path) -> dict[str, str]:
    """Every made page: its path within the site, and its Markdown."""
    return {
        "reference/commands.md": commands(),
        "reference/settings.md": settings(),
        "reference/python.md": python(),
        "reference/measurements.md": measurements(docs),
        "decisions/index.md": decisions(docs),
    }


def _cell(text: object) -> str:
    """A text as one cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"


def commands() -> str:
    """Every command: its help, its arguments, its options with their defaults."""
    group: Any = typer.main.get_command(app)
    parts = [f"# Commands\n\n`kedge COMMAND --help` prints the same in the terminal. {_MADE}\n"]
    for name in COMMANDS:
        command = group.commands[name]
        parts.append(f"## {name}\n\n{_paragraphs(command.help)}\n")
        places = [one for one in command.params if one.param_type_name == "argument"]
        words = " ".join(one.name.upper() if one.required else f"[{one.name.upper()}]" for one in places)
        parts.append(f"```text\nkedge {name} {words + ' ' if words else ''}[OPTIONS]\n```\n")
        rows = [_option(one) for one in [*places, *(one for one in command.params if one not in places)]]
        parts.append(_table(("", "value", "what it does"), [row for row in rows if row[0] != "`--help`"]))
    return "\n".join(parts)


def _paragraphs(text: str | None) -> str:
    """A docstring as Markdown: lines such as `anchors: known pairs` become a list."""
    made = []
    for paragraph in inspect.cleandoc(text or "").replace("<", "&lt;").split("\n\n"):
        if re.match(r"[a-z]\w*(, \w+)*: ", paragraph):
            paragraph = re.sub(r"^([a-z]\w*(?:, \w+)*): ", r"- **\1**: ", paragraph, flags=re.MULTILINE)
        elif paragraph.startswith(">>> "):
            paragraph = f"```pycon\n{paragraph.replace('&lt;', '<')}\n```"
        made.append(paragraph)
    return "\n\n".join(made)


def _kind(one: Any) -> str:
    """What a value is, for an option without a word of its own."""
    kind = one.type_descriptor.annotation
    return {Path: "FILE", int: "NUMBER", float: "NUMBER"}.get(kind, "TEXT")


def _option(one: Any) -> tuple[str, str, str]:
    """An option or argument as a row of the table."""
    flag = getattr(one, "is_flag", False)
    name = ", ".join(f"`{word}`" for word in one.opts) if one.param_type_name == "option" else f"`{one.name.upper()}`"
    value = "" if flag else f"`{one.metavar or _kind(one)}`"
    help_ = _cell(one.help or "")
    if one.required:
        help_ += " Required."
    elif one.default is not None and one.default is not False and one.default != [] and not callable(one.default):
        help_ += f" Default: `{one.default}`."
    return name, value.replace("|", "\\|"), help_


def settings() -> str:
    """Every setting: its default, its value under the preset `paper`, and its help."""
    other = flatten(PRESETS["paper"])
    parts = [
        "# Settings\n",
        "Set one with `--set NAME=VALUE`, several in a TOML file with `--config FILE`, in Python with",
        '`settings={"decide.precision": 0.95}`. `kedge config` prints them as such a file. The column *paper* has what',
        f"`--preset paper` sets instead. {_MADE}\n",
        _settings_table(Config, "", other),
    ]
    for name, info in Config.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Stage):
            parts.append(f"## {name}\n\n{(info.description or '')[:1].upper()}{(info.description or '')[1:]}.\n")
            parts.append(_settings_table(model, f"{name}.", other))
    return "\n".join(parts)


def _settings_table(model: type[Stage], prefix: str, other: dict[str, Any]) -> str:
    rows = []
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Stage):
            continue
        path = f"{prefix}{name}"
        paper = f"`{_value(other[path])}`" if path in other else ""
        rows.append((f"`{path}`", f"`{_value(info.default)}`", paper, _cell(f"{info.description}{_choices(info)}")))
    return _table(("setting", "default", "paper", "what it is"), rows)


def _value(value: object) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else str(value) or '""'


def _choices(info: Any) -> str:
    """The words that a setting may be, where it may be no other ones."""
    words = [word for word in get_args(info.annotation) if isinstance(word, str)]
    missing = [word for word in words if word not in (info.description or "")]
    return f" ({', '.join(words)})" if missing else ""


def python() -> str:
    """Every name that `kedge` offers in Python, with its signature and its docstring."""
    parts = [f"# Python\n\n`import kedge` loads nothing; each name is loaded when it is first used. {_MADE}\n"]
    names = sorted((name for name in kedge.__all__ if name[0] != "_"), key=lambda name: (name[0].isupper(), name))
    return "\n".join(parts + [_documented(f"kedge.{name}", getattr(kedge, name), "##") for name in names])


def _documented(name: str, thing: Any, level: str) -> str:
    """A function, or a class with its public methods."""
    lines = [f"{level} {name}\n"]
    models = (Config, kedge.KedgeError)
    if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, models)):
        signature = re.sub(r"(: |-> )'([^']+)'", r"\1\2", str(inspect.signature(thing)))
        call = f"{name.removeprefix('kedge.') if level != '##' else name}{signature}"
        lines.append(f"```text\n{_wrapped(call)}\n```\n")
    lines.append(f"{_paragraphs(inspect.getdoc(thing))}\n")
    if inspect.isclass(thing) and not issubclass(thing, models):
        for key, member in vars(thing).items():
            own = inspect.isfunction(member) or isinstance(member, (classmethod, property))
            if own and not key.startswith("_") and inspect.getdoc(member):
                if isinstance(member, property):
                    lines.append(f"{level}# {name}.{key}\n\n{_paragraphs(inspect.getdoc(member))}\n")
                else:
                    lines.append(_documented(f"{name}.{key}", getattr(thing, key), f"{level}#"))
    return "\n".join(lines)


def _wrapped(call: str) -> str:
    """A long call with one parameter per line."""
    if len(call) <= 90:
        return call
    inside = re.sub(r", (?=\w+:|\*,|\w+=|/)", ",\n    ", call.partition("(")[2])
    return f"{call.partition('(')[0]}(\n    {inside}"


def _tables(docs: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((docs / "results" / "printed.toml").read_text("utf-8"))["table"])


def _origin(one: dict[str, Any]) -> tuple[str, str, str]:
    """The command that printed a table, the day, and the file that it is checked against."""
    file = f"`docs/results/{one['results']}`" if one.get("results") else "no file kept; typed in from what it printed"
    return f"`{one['command']}`", f"<time>{one['date']:%Y-%m-%d}</time>", file


def measurements(docs: Path) -> str:
    """What was measured, by which command, when, and from which file the tables are checked."""
    rows = [(f"[{one['what']}](../{one['page']})", *_origin(one)) for one in _tables(docs)]
    head = (
        "# What was measured\n\nEvery table of figures on this site, the command that printed it, and the date. Tables "
        "with a file are made from it by a script, and a test fails where page and file differ. All commands run in a "
        "clone; those on research networks read them from `KEDGE_DATA`.\n"
    )
    return f"{head}\n{_table(('what', 'command', 'printed on', 'checked against'), rows)}"


def origins(docs: Path, page: str) -> str:
    """The last section of a page with measured tables: where its figures are from. Empty for any other page."""
    rows = [(one["what"], *_origin(one)) for one in _tables(docs) if one["page"].partition("#")[0] == page]
    table = _table(("table", "command", "printed on", "checked against"), rows)
    return f"\n## Where the figures are from\n\n{table}" if rows else ""


def decisions(docs: Path) -> str:
    """The list of decision records, newest first."""
    rows = []
    for path in sorted((docs / "decisions").glob("0*.md"), reverse=True):
        title = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
        number, _, text = title.partition(" ")
        rows.append(
            f"- [{number} {text}]({path.name})" if number.rstrip(".").isdigit() else f"- [{title}]({path.name})"
        )
    head = (
        "# Decisions\n\nA choice that someone could reasonably have made otherwise has a record: what was decided, why,"
    )
    return f"{head} what was tried, and the figures.\n\nRecords are history: a later one supersedes.\n\n" + "\n".join(
        rows
    )
