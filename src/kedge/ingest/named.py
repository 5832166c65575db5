"""Which columns of a table hold the two ids and the weight: those that the user names, else by their headings.

Decision 40: what makes a first row a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from kedge.errors import KedgeError, did_you_mean

_ANY: Final = (
    "id|ids|uid|name|screen|user|node|account|person|profile|member|vertex|handle|network|author|entity|page|actor|key"
)
_FIRST: Final = "source|src|from|left|start|head|follower|sender|caller|ego|citing|origin"
_SECOND: Final = (
    "target|dst|dest|destination|to|right|end|tail|friend|followee|following|followed|follows|receiver|recipient|callee|"
    "alter|cited|contact|neighbor|neighbour|hyperedge"
)
# Headings without case and punctuation: `user_id_1`, `fromNodeId`, `friend`.
_ROLES: Final = {
    "first": re.compile(f"(?:{_ANY})*(?:{_FIRST})(?:{_ANY})*[1a]?|(?:{_ANY})+[1a]"),
    "second": re.compile(f"(?:{_ANY})*(?:{_SECOND})(?:{_ANY})*[2b]?|(?:{_ANY})+[2b]"),
    "any": re.compile(f"(?:{_ANY})+"),
}
# Headings of edges whose two ends differ; source and target are those of any edge.
_DIRECTED: Final = re.compile(
    f"(?:{_ANY})*(?:follow\\w*|send\\w*|receiv\\w*|recipient|call[er]\\w*|cit\\w*|from|to)(?:{_ANY})*"
)
_WEIGHT: Final = re.compile("(?:edge)?(?:weights?|w|value|strength|count|p)")
_INDEX: Final = re.compile(r"(?:unnamed: ?\d+|__index_level_\d+__)?", re.IGNORECASE)  # of a data frame, without a name
_MISSING: Final = frozenset(("", "na", "n/a", "null", "none", "-", "?"))
_DAY, _MONTH = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])"
_NAMED_MONTH: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE: Final = re.compile(
    f"(?:1[89]|20)[0-9]{{2}}([-/.]){_MONTH}\\1{_DAY}(?:[T ].*)?|(?:{_DAY}([-/.]){_MONTH}|{_MONTH}([-/.]){_DAY})"
    f"(?:\\2|\\3)(?:[0-9]{{4}}|[0-9]{{2}})(?:[T ].*)?|(?:[a-z]{{3,9}},? )?"
    f"(?:{_DAY}[- ]{_NAMED_MONTH}|{_NAMED_MONTH} {_DAY},?)[- ].*(?:1[89]|20)[0-9]{{2}}.*",
    re.IGNORECASE,
)
_LONGEST: Final = 60  # characters of a date or a heading that is looked at
# Whole seconds or milliseconds since 1970, from 2000 to 2038.
_TIMESTAMP: Final = re.compile(r"(?:9[4-9]\d{7}|1\d{9}|20\d{8}|21[0-4]\d{7})(?:\d{3})?")
_ENOUGH_ROWS: Final = 5  # from which one end, or the marks of ids (digits, @), show that a heading differs; unmeasured
_MOST_SHOWN: Final = 12  # names in a message


class Chosen(NamedTuple):
    """The places of the two ids and of the weight, and whether headings or the user chose them."""

    first: int
    second: int
    weight: int | None
    known: bool

    @property
    def all(self) -> list[int]:
        """The places of the two ids, and of the weight if there is one."""
        return [place for place in self[:3] if place is not None]


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def are_dates(cells: Sequence[str]) -> bool:
    """Whether all cells are dates."""
    return bool(cells) and all(map(_is_date, cells))


def _is_date(cell: str) -> bool:
    return len(cell) <= _LONGEST and _DATE.fullmatch(cell.strip()) is not None


def are_timestamps(cells: Sequence[str]) -> bool:
    """Whether all cells are whole seconds or milliseconds of this century."""
    return bool(cells) and all(_TIMESTAMP.fullmatch(cell.strip()) for cell in cells)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name[:_LONGEST].lower())


def is_directed(first: str, second: str) -> bool:
    """Whether the headings of both ends state a direction, as follower and followee do."""
    return all(_DIRECTED.fullmatch(_plain(name)) for name in (first, second))


def is_weight(name: str) -> bool:
    """Whether a column or an attribute is called a weight."""
    return _WEIGHT.fullmatch(_plain(name)) is not None


def _role(name: str) -> str | None:
    return next((role for role, form in _ROLES.items() if form.fullmatch(_plain(name))), None)


def is_heading(top: Sequence[str], body: Sequence[Sequence[str]]) -> Literal["names", "kind"] | None:
    """Whether the first row names the columns: by known names, or since its cells are of another kind than all below.

    Accounts may be called "left" or "user1" too, but then they, or others like them, occur again.
    """
    names = [cell.strip() for cell in top]
    again = {_shape(cell) for row in body for cell in row}
    roles = [_role(name) for name in names]
    named = {_shape(name) for name, role in zip(names, roles, strict=True) if role}
    if ("second" in roles and ("first" in roles or "any" in roles)) or (len(roles) > 1 and roles[0] and roles[1]):
        return "names" if again.isdisjoint(named) else None
    if not body:
        return None

    def differs(column: int, test: Callable[[str], bool]) -> bool:
        cells = [row[column].strip() if column < len(row) else "" for row in body]
        top = names[column] if column < len(names) else ""
        return top.lower() not in _MISSING and not test(top) and all(map(test, cells))

    width = min(len(names), len(body[0]))
    if width < 2 or not again.isdisjoint(map(_shape, names[:2])):
        return None
    ends: list[Callable[[str], bool]] = [is_number]
    if len(body) >= _ENOUGH_ROWS:
        ends += [lambda cell: any(map(str.isdigit, cell)), lambda cell: "@" in cell]
    found = any(all(differs(end, test) for end in (0, 1)) for test in ends)
    found |= len(body) >= _ENOUGH_ROWS and any(differs(end, is_number) for end in (0, 1))
    found |= any(differs(column, is_number) for column in range(2, width))
    found |= any(differs(column, _is_date) for column in range(width))
    return "kind" if found else None


def _shape(cell: str) -> str:
    """A cell without case, with its numbers made equal: user1 and user27 are alike, source occurs once."""
    return re.sub(r"\d+", "0", cell.strip().lower())


def choose_columns(names: Sequence[str] | None, width: int, stated: Sequence[str], file: str | None) -> Chosen:
    """The columns that the user states, else by their headings, else the first two; `names` is None without headings.

    The index of a data frame, which has no heading, is none of the first two.
    """
    if stated:
        places = [_find(name, names, width, file) for name in stated]
        if len(set(places)) < len(places):
            raise KedgeError(f"columns {', '.join(stated)} are not all different", file=file, remedy="name each once")
        return Chosen(places[0], places[1], places[2] if len(places) > 2 else None, known=True)
    if names is None:
        return Chosen(0, 1, None, known=False)
    roles = [_role(name) for name in names]

    def only(wanted: str) -> int | None:
        places = [i for i, role in enumerate(roles) if role == wanted]
        return places[0] if len(places) == 1 else None

    first, second = only("first" if "first" in roles else "any"), only("second")
    known = first is not None and second is not None
    if first is None or second is None:
        named = [i for i, name in enumerate(names) if not _INDEX.fullmatch(name.strip())]
        first, second = named[:2] if len(named) > 1 else (0, 1)
    weight = next((i for i, name in enumerate(names) if is_weight(name) and i not in (first, second)), None)
    return Chosen(first, second, weight, known)


def _find(stated: str, names: Sequence[str] | None, width: int, file: str | None) -> int:
    known = [name.strip() for name in names or ()]
    for same in (str, str.lower):
        places = [i for i, name in enumerate(known) if same(name) == same(stated)]
        if len(places) > 1:
            raise KedgeError(f"has several columns {stated!r}", file=file, remedy="number them from 1 instead")
        if places:
            return places[0]
    if stated.isdecimal() and 1 <= int(stated) <= width:
        return int(stated) - 1
    if names is None:
        raise KedgeError(
            f"no column {stated!r}: it has {width} columns and no header", file=file, remedy="number them from 1"
        )
    shown = ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in known[:_MOST_SHOWN])
    more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    remedy = did_you_mean(stated, known, f"name these, or number them from 1 to {width}")
    raise KedgeError(f"no column {stated!r}: its columns are {shown}{more}", file=file, remedy=remedy)
