"""What a request asks for: its query and its body, checked before anything looks at them."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from kedge.review.desk import STATUSES, Filters
from kedge.types import DECISIONS

__all__ = ["account", "filters_of", "flag", "integer", "number", "page_of", "read_body"]

Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, kind: type[Body]) -> Body:
    """The body of a write, or what is wrong with it."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise HTTPException(422, f"{place or 'body'}: {first['msg']}") from None


def flag(request: Request, name: str) -> bool:
    """A switch: 0 or 1, off where it is not given."""
    value = request.query_params.get(name, "0")
    if value not in ("0", "1", "true", "false"):
        raise HTTPException(422, f"{name} is 0 or 1")
    return value in ("1", "true")


def integer(request: Request, name: str, default: int | None, high: int = 2**53) -> int | None:
    """A number from 0."""
    value = request.query_params.get(name)
    if value is None:
        return default
    # isdecimal alone would let other scripts' digits through.
    if not (value.isascii() and value.isdecimal() and len(value) <= 16 and int(value) < high):
        raise HTTPException(422, f"{name} is a number from 0")
    return int(value)


def account(request: Request, name: str) -> int:
    """An account that must be given; whether the run has it is another question."""
    value = integer(request, name, None)
    if value is None:
        raise HTTPException(422, f"{name} is missing")
    return value


def number(request: Request, name: str, default: Any, low: float, high: float) -> Any:
    """A number within bounds."""
    value = request.query_params.get(name)
    if value is None:
        return default
    try:
        found = float(value)
    except ValueError:
        found = low - 1
    if not low <= found <= high:
        raise HTTPException(422, f"{name} is a number from {low:g} to {high:g}")
    return found


def page_of(request: Request) -> tuple[int, int]:
    """Which rows of a list: offset and limit."""
    limit = integer(request, "limit", 50)
    return integer(request, "offset", 0) or 0, min(50 if limit is None else limit, 200)


def filters_of(request: Request) -> Filters:
    """Which part of the queue."""
    status = request.query_params.get("status", "open")
    decision = request.query_params.get("decision") or None
    if status not in STATUSES:
        raise HTTPException(422, f"status is one of {', '.join(STATUSES)}")
    if decision is not None and decision not in DECISIONS:
        raise HTTPException(422, f"decision is one of {', '.join(DECISIONS)}")
    return Filters(
        status=status,
        decision=decision,
        least=number(request, "least", 0.0, 0.0, 1.0),
        most=number(request, "most", 1.0, 0.0, 1.0),
        text=request.query_params.get("q", ""),
    )
