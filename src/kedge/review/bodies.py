"""What the browser may send: the bodies of writes, checked strictly before anything looks at them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = ["DecisionBody", "ReviewerBody", "UndoBody"]


def _printable(text: str) -> str:
    """A name that is shown to others must not hide or reorder anything."""
    stripped = text.strip()
    if not stripped or not stripped.isprintable():
        raise ValueError("a name needs printable characters")
    return stripped


def _encodable(text: str) -> str:
    """Half of a surrogate pair is no text and cannot be stored; NUL would end it early elsewhere."""
    if "\0" in text:
        raise ValueError("a note may not contain NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("not valid Unicode") from None
    return text


Key = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$", description="names this request; sent again it counts once")
]
Account = Annotated[int, Field(ge=0, lt=2**53, description="the account's number in this run")]
Run = Annotated[str, Field(max_length=64, description="the run_id that the page was made from")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DecisionBody(_Body):
    """A verdict on a pair."""

    left: Account
    right: Account
    verdict: Literal["yes", "no", "unsure"]
    note: Annotated[str, Field(max_length=2000), AfterValidator(_encodable)] = ""
    key: Key
    run: Run
    seen: Annotated[int, Field(ge=0, lt=2**53, description="number of my standing decision on the pair, 0 for none")]
    despite: Annotated[bool, Field(description="yes although the account is confirmed with another")] = False


class UndoBody(_Body):
    """Take back a decision: the newest that stands, or the one with this number."""

    key: Key
    seq: Annotated[int, Field(ge=1, lt=2**53)] | None = None


class ReviewerBody(_Body):
    """Who decides."""

    name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_printable), AfterValidator(_encodable)]
