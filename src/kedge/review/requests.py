"""What the browser may send: queries and bodies as models, checked before anything else reads them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    WithJsonSchema,
)
from starlette.exceptions import HTTPException
from starlette.requests import Request

Model = TypeVar("Model", bound=BaseModel)


def _digits(text: str) -> int | str:
    """A query holds text; `isdecimal` alone would accept other scripts' digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else text


def _flag(text: str) -> bool | str:
    return {"0": False, "false": False, "1": True, "true": True}.get(text, text)


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


Account = Annotated[int, Field(ge=0, lt=2**53, description="the account's number in this run")]
Key = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$", description="names this request; sent again it counts once")
]
Whole = Annotated[StrictInt, Field(ge=0, lt=2**53), BeforeValidator(_digits)]
Share = Annotated[float, Field(ge=0, le=1)]
Blind = Annotated[
    StrictBool,
    BeforeValidator(_flag),
    WithJsonSchema({"enum": ["0", "1", "true", "false"]}),
    Field(description="without scores and others' decisions"),
]
Limit = Annotated[
    Whole, AfterValidator(lambda rows: min(rows, 200)), Field(description="rows", json_schema_extra={"maximum": 200})
]
Offset = Annotated[Whole, Field(description="rows to pass over")]


class _Query(BaseModel):
    model_config = ConfigDict(frozen=True)


class Filters(_Query):
    """A part of the queue."""

    status: Annotated[
        Literal["open", "second", "decided", "unsure", "disputed", "all"],
        Field(description="open: not decided yet; second: decided by others only"),
    ] = "open"
    decision: Annotated[
        Literal["no match", "review", "match"] | None,
        BeforeValidator(lambda text: text or None),
        Field(description="what the run decided"),
    ] = None
    least: Annotated[Share, Field(description="least probability")] = 0.0
    most: Annotated[Share, Field(description="largest probability")] = 1.0
    text: Annotated[str, Field(alias="q", description="a part of an id")] = ""


class NextQuery(Filters):
    """Which pair to show next."""

    after: Annotated[Whole | None, Field(description="skip: the next one behind this left account's place")] = None
    blind: Blind = False


class QueueQuery(Filters):
    """Which rows of the queue."""

    offset: Offset = 0
    limit: Limit = 50
    blind: Blind = False


class PairQuery(_Query):
    """Which pair."""

    left: Annotated[Whole, Field(description="the left account's number")]
    right: Annotated[Whole, Field(description="the right account's number")]
    blind: Blind = False


class HistoryQuery(_Query):
    """Which rows of the log."""

    reviewer: Annotated[str, Field(description="decisions of this reviewer only")] = ""
    text: Annotated[str, Field(alias="q", description="a part of an id or note")] = ""
    offset: Offset = 0
    limit: Limit = 50
    blind: Blind = False


class ProgressQuery(_Query):
    """Towards which precision."""

    target: Annotated[float, Field(ge=0.01, le=0.9999, description="another target than the run's")] | None = None


class SearchQuery(_Query):
    """Which accounts."""

    text: Annotated[str, Field(alias="q", min_length=1, description="a part of an account's id")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DecisionBody(_Body):
    """A verdict on a pair."""

    left: Account
    right: Account
    verdict: Literal["yes", "no", "unsure"]
    note: Annotated[str, Field(max_length=2000), AfterValidator(_encodable)] = ""
    key: Key
    run: Annotated[str, Field(max_length=64, description="the run_id that the page was made from")]
    seen: Annotated[int, Field(ge=0, lt=2**53, description="number of my standing decision on the pair, 0 for none")]
    despite: Annotated[bool, Field(description="yes although the account is confirmed with another")] = False


class UndoBody(_Body):
    """Take back a decision: the newest that stands, or the one with this number."""

    key: Key
    seq: Annotated[int, Field(ge=1, lt=2**53)] | None = None


class ReviewerBody(_Body):
    """Who decides."""

    name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_printable), AfterValidator(_encodable)]


def parameters(query: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """The JSON schema of each parameter; in a query, null is a parameter that is not there."""
    properties = query.model_json_schema()["properties"]
    return {name: {**schema.pop("anyOf", [{}])[0], **schema} for name, schema in properties.items()}


def _expected(schema: dict[str, Any]) -> str:
    if schema.get("enum", [])[:2] == ["0", "1"]:
        return "0 or 1"
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    return f"a number from {schema['minimum']:g}" + (f" to {schema['maximum']:g}" if schema["type"] == "number" else "")


def read_query(request: Request, kind: type[Model]) -> Model:
    """The query of a request, or what is wrong with it. Parameters that are not ours are ignored."""
    try:
        return kind.model_validate(dict(request.query_params))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = str(first["loc"][0])
        schema = parameters(kind)[name]
        absent = first["type"] in ("missing", "string_too_short")
        words = f"missing: {schema['description']}" if absent else _expected(schema)
        raise HTTPException(422, f"{name} is {words}") from None


async def read_body(request: Request, kind: type[Model]) -> Model:
    """The body of a write, or what is wrong with it."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise HTTPException(422, f"{place or 'body'}: {first['msg']}") from None
