"""Messages of kedge for readers of Python: an option of the command line becomes the argument of the same meaning."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final, ParamSpec, TypeVar

from kedge.errors import KedgeError

P = ParamSpec("P")
T = TypeVar("T")

# Options that are no argument of the same name. All others are: `--left-profiles` is `left_profiles=`.
_SPECIAL: Final[Mapping[str, str]] = {
    "--all": "run.all()",
    "--audit": "audit=True",
    "--candidates": "the number of candidates",
    "--data": "data=",
    "--force": "force=True",
    "--format": "format=",
    "--matches-only": "matches_only=True",
    "--new-key": "kedge.make_key",
    "--raw": "raw=True",
    "--redraw": "redraw=True",
    "--skip-bad-rows": 'settings={"read.bad_rows": "skip"}',
    "--suspects": "suspects=True",
}
_SETTINGS: Final[Mapping[str, str]] = {
    "--columns": "read.columns",
    "--left-columns": "read.left_columns",
    "--right-columns": "read.right_columns",
    "--anchor-columns": "read.anchor_columns",
    "--max-input-memory": "read.max_memory_mb",
    "--max-memory": "engine.max_memory_mb",
    "--engine": "engine.name",
    "--address": "engine.address",
    "--tls-ca": "engine.tls_ca",
    "--tls-cert": "engine.tls_cert",
    "--tls-key": "engine.tls_key",
}
_SET: Final = re.compile(r"--set ([\w.]+)=([^\s,;:)]+)")
_OPTION: Final = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)(?: ([A-Z]+\b|[a-z]+,[a-z]+(?:,[a-z]+)*))?")
_WORDS: Final = (
    (re.compile(r"^option: "), "settings: "),
    (re.compile(r"\(--debug shows more\)"), ""),
    (re.compile(r"on the command line"), "in the call"),
    (re.compile(r"give LEFT RIGHT --anchors FILE"), "give left, right and anchors"),
    (re.compile(r"(?<![\w-])-o (?:FILE|DIR|RUN|[\w.-]+)"), "out="),
    (re.compile(r"see `kedge compare --list`"), "see `kedge.list_methods()`"),
)


def in_python(text: str) -> str:
    """The message with arguments in place of options.

    >>> in_python("give them with --anchors, or --set read.header=no")
    'give them with anchors=, or settings={"read.header": "no"}'
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    text = _SET.sub(r'settings={"\1": "\2"}', text)
    return _OPTION.sub(_argument, text)


def _argument(found: re.Match[str]) -> str:
    option, value = found[1], found[2]
    if option in _SETTINGS:
        return f'settings={{"{_SETTINGS[option]}": "{value or "..."}"}}'
    rest = f" {value}" if value and not value.isupper() else ""
    return _SPECIAL.get(option, option.removeprefix("--").replace("-", "_") + "=") + rest


def worded(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose errors name arguments of Python."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except KedgeError as error:
            error.args = (in_python(str(error)),)
            raise

    return called
