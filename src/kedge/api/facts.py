"""Named figures as an object: read by name, printed as text, shown as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedge.context import Shown, table_text
from kedge.report import paragraph_html, table_html


class Facts:
    """What a function found out. `facts["name"]` and `facts.name` are a figure, `to_dict()` all of them as JSON types;
    `print` shows them as the command of the same name does."""

    def __init__(
        self,
        facts: Mapping[str, Any],
        tables: Sequence[Shown] = (),
        lines: Sequence[str] = (),
        notes: Sequence[str] = (),
        head: str = "",
    ) -> None:
        self._facts, self._tables, self._lines = dict(facts), tuple(tables), tuple(lines)
        self._head, self.notes = head, tuple(notes)

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("_facts", {})  # empty while a copy is being made
        found = next((key for key in (name, name.replace("_", " ")) if key in facts), None)
        if found is None:
            raise AttributeError(f"no figure {name!r}; there are: {', '.join(facts)}")
        return facts[found]

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(key.replace(" ", "_") for key in self._facts)]

    def __contains__(self, name: object) -> bool:
        return name in self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def keys(self) -> list[str]:
        """The names of the figures."""
        return list(self._facts)

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON types."""
        return dict(self._facts)

    def __repr__(self) -> str:
        tables = (table_text(table).rstrip() for table in self._tables)
        return "\n".join([*([self._head] if self._head else []), *tables, *self._lines])

    def _repr_html_(self) -> str:
        tables = [table_html(table).html for table in self._tables]
        head = [paragraph_html(self._head).html] if self._head else []
        return "".join([*head, *tables, *(paragraph_html(line).html for line in self._lines)])
