"""The schemas of what the review app takes and answers, for its OpenAPI document."""

from __future__ import annotations

from typing import Any

from kedge.decisions import PURGE, UNDO, VERDICTS
from kedge.review.bodies import DecisionBody, ReviewerBody, UndoBody
from kedge.types import DECISIONS

__all__ = ["ref", "schemas"]


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required.split(), "properties": properties}


def ref(name: str) -> dict[str, str]:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": [kind, "null"], **more}


def _or_null(schema: Any) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXT = {"type": "string"}
_WHOLE = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_VERDICT = {"enum": [*VERDICTS, "disputed", None]}
_ACCOUNT = {"account": _WHOLE, "id": _TEXT, "degree": _WHOLE}
_PLACES = _or_null(_object("left right", left=_WHOLE, right=_WHOLE))
_ENTRY = {
    "seq": _WHOLE,
    "time": {"type": "string", "format": "date-time"},
    "reviewer": _TEXT,
    "action": {"enum": [*VERDICTS, UNDO, PURGE]},
    "left": _TEXT,
    "right": _TEXT,
    "note": _TEXT,
    "undoes": _maybe("integer"),
    "undone_by": _maybe("integer"),
    "forgotten": _FLAG,
    "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}


def schemas() -> dict[str, Any]:
    """Every schema by its name."""
    return {
        **_parts(),
        **_answers(),
        **{kind.__name__: kind.model_json_schema() for kind in (DecisionBody, UndoBody, ReviewerBody)},
    }


def _parts() -> dict[str, Any]:
    number = _maybe("number")
    choice = {**_ACCOUNT, "probability": _SHARE, "assigned": _FLAG, "verdict": _VERDICT}
    joined = {"left": ref("Account"), "right": ref("Account"), "belief": _SHARE, "known": _FLAG}
    step = {
        "kind": {"enum": ["neighbour", "other", "missing_left", "missing_right", "profile", "vectors"]},
        "weight": number,
        "count": _WHOLE,
        **joined,
    }
    ego_side = _object(
        "alone more edges",
        alone=_list(_object("account id degree elsewhere", **_ACCOUNT, elsewhere=_FLAG)),
        more=_WHOLE,
        edges=_list({"type": "array", "items": _WHOLE, "minItems": 2, "maxItems": 2}),
    )
    return {
        "Error": _object("error", error=_TEXT, conflict=_FLAG, contradiction=_list(ref("Warning"))),
        "Account": _object("account id degree", **_ACCOUNT),
        "Entry": _object(" ".join(_ENTRY), **_ENTRY),
        "Warning": _object("side id partner by", side={"enum": ["left", "right"]}, id=_TEXT, partner=_TEXT, by=_TEXT),
        "Choice": _object("account id probability verdict", **choice),
        "Pair": _object(
            "run left right probability score margin rank decision verdict standing seen warnings candidates rivals "
            "ego evidence blind",
            run=_TEXT,
            left=ref("Account"),
            right=ref("Account"),
            probability=_SHARE,
            score=number,
            margin=number,
            counterpart=_SHARE,
            rank=_maybe("integer"),
            assigned=_FLAG,
            decision={"enum": [*DECISIONS, None]},
            known=_FLAG,
            rejected=_FLAG,
            verdict=_VERDICT,
            standing=_list(ref("Entry")),
            seen=_WHOLE,
            warnings=_list(ref("Warning")),
            candidates=_list(ref("Choice")),
            rivals=_list(ref("Choice")),
            ego=_object(
                "joined left right", joined=_list(_object(" ".join(joined), **joined)), left=ego_side, right=ego_side
            ),
            evidence=_object("unit steps total", unit=_TEXT, steps=_list(_object("kind weight", **step)), total=number),
            blind=_FLAG,
        ),
    }


def _answers() -> dict[str, Any]:
    page = {"total": _WHOLE, "offset": _WHOLE, "limit": _WHOLE}
    row = _object(
        "left right probability verdict",
        left=ref("Account"),
        right=ref("Account"),
        probability=_SHARE,
        decision={"enum": [*DECISIONS, None]},
        information=_maybe("number"),
        verdict=_VERDICT,
        mine=_FLAG,
    )
    logged = _object(" ".join(_ENTRY), **_ENTRY, accounts=_PLACES, standing=_FLAG)
    contradiction = _object("side id partners", side={"enum": ["left", "right"]}, id=_TEXT, partners=_list(_TEXT))
    found = _object(
        "account id degree known partner",
        **_ACCOUNT,
        known=_FLAG,
        partner=_or_null(ref("Account")),
        candidates=_WHOLE,
    )
    step = _object("low high pairs said found", low=_SHARE, high=_SHARE, pairs=_WHOLE, said=_SHARE, found=_SHARE)
    said = dict.fromkeys(VERDICTS, _WHOLE)
    agreement = _object(
        "first second both same kappa table",
        first=_TEXT,
        second=_TEXT,
        both=_WHOLE,
        same=_WHOLE,
        kappa=_maybe("number", minimum=-1, maximum=1),
        table=_object(" ".join(VERDICTS), **dict.fromkeys(VERDICTS, _object(" ".join(VERDICTS), **said))),
    )
    return {
        "OnePair": _object("pair", pair=_or_null(ref("Pair"))),
        "Queue": _object("total pairs", **page, pairs=_list(row)),
        "History": _object(
            "total entries contradictions head",
            **page,
            entries=_list(logged),
            contradictions=_list(contradiction),
            head=_TEXT,
        ),
        "Found": _object("text left right", text=_TEXT, left=_list(found), right=_list(found)),
        "Progress": _object(
            "target pairs precision_before precision_now more decided yes no queue mine entries head said_and_found "
            "reviewers agreement",
            target=_SHARE,
            pairs=_WHOLE,
            precision_before=_SHARE,
            precision_now=_SHARE,
            more=_maybe("integer"),
            **dict.fromkeys("decided yes no queue mine entries".split(), _WHOLE),
            head=_TEXT,
            said_and_found=_list(step),
            reviewers=_list(_object(f"reviewer {' '.join(VERDICTS)}", reviewer=_TEXT, **said)),
            agreement=_list(agreement),
        ),
        "Decided": _object("entry", entry=ref("Entry")),
        "Undone": _object("entry accounts", entry=_or_null(ref("Entry")), accounts=_PLACES),
        "Session": _object("csrf reviewer run name", csrf=_TEXT, reviewer=_maybe("string"), run=_TEXT, name=_TEXT),
        "Reviewer": _object("reviewer", reviewer=_TEXT),
        "Document": {"type": "object", "required": ["openapi", "paths"]},
    }
