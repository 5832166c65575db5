"""What the review app answers, as types: the type checker holds the views to them, OpenAPI is made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from kedge.answers import PURGE, UNDO, VERDICTS
from kedge.types import DECISIONS

Count = Annotated[int, Field(ge=0)]
Two = Annotated[Sequence[Count], Field(min_length=2, max_length=2)]
Share = Annotated[float, Field(ge=0, le=1)]
Side = Annotated[str, WithJsonSchema({"enum": ["left", "right"]})]
Verdict = Annotated[str, WithJsonSchema({"enum": [*VERDICTS, "disputed"]})]
Decision = Annotated[str, WithJsonSchema({"enum": list(DECISIONS)})]


class Warning(TypedDict):
    """Why a yes would contradict what is known; `by` names reviewers, or is `anchor`."""

    side: Side
    id: str
    partner: str
    by: str


class Error(TypedDict):
    """A refusal; `conflict`: another tab was first; `contradiction`: an account would be confirmed twice; `replaced`:
    the run or its log is not the one that the server opened.
    """

    error: str
    replaced: NotRequired[bool]
    conflict: NotRequired[bool]
    contradiction: NotRequired[list[Warning]]


class Account(TypedDict):
    """An account: its number in this run, the user's id, its number of neighbours."""

    account: Count
    id: str
    degree: Count


class Accounts(TypedDict):
    """A pair by the accounts' numbers."""

    left: Count
    right: Count


class Entry(TypedDict):
    """One row of the log."""

    seq: Count
    time: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    reviewer: str
    action: Annotated[str, WithJsonSchema({"enum": [*VERDICTS, UNDO, PURGE]})]
    left: str
    right: str
    note: str
    undoes: int | None
    undone_by: int | None
    forgotten: bool
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Logged(Entry):
    """A row of the history; `accounts` is null where this run has no such accounts."""

    accounts: Accounts | None
    standing: bool


class Choice(Account):
    """A candidate."""

    probability: Share | None
    assigned: bool
    verdict: Verdict | None


class Neighbour(TypedDict):
    """Neighbours of the two accounts that are matched with each other."""

    left: Account
    right: Account
    belief: Share
    known: bool


class NeighbourStep(Neighbour):
    """What one pair of neighbours adds to the evidence."""

    kind: Literal["neighbour"]
    weight: float | None


class SumStep(TypedDict):
    """What several of a kind add together."""

    kind: Literal[
        "other",
        "possible",
        "missing_left",
        "missing_right",
        "profile",
        "vectors",
        "profiles",
        "vectors and profiles",
        "purged values",
    ]
    count: Count
    weight: float | None


class FieldStep(TypedDict):
    """What one field of the profiles adds."""

    kind: Literal["field"]
    name: str
    equal: bool
    similarity: Share | None
    weight: float | None


class Evidence(TypedDict):
    """The steps of the evidence waterfall; `reordered`: candidates do not stand in the order of their log-odds."""

    unit: Literal["log-odds", "shared anchors"]
    steps: list[NeighbourStep | FieldStep | SumStep]
    total: float | None
    reordered: bool


class Part(TypedDict):
    """A piece of a sentence; an account's id or not."""

    text: str
    id: bool


class ShareLine(TypedDict):
    """Who the left account may be, and how likely, given that it has a counterpart."""

    words: list[Part]
    share: float


class Way(TypedDict):
    """From the evidence to the probability: shares among rivals, leads over them, and P(counterpart)."""

    title: str
    shares: list[ShareLine]
    leads: list[list[Part]]
    counterpart: list[list[Part]]


class OtherNeighbour(Account):
    """A neighbour without counterpart among the other account's neighbours."""

    elsewhere: bool


class EgoSide(TypedDict):
    """Other neighbours of one account; `edges` are places in [*joined, *alone], `more` counts what is not drawn."""

    alone: list[OtherNeighbour]
    more: Count
    edges: list[Two]


class Ego(TypedDict):
    """Both ego networks; `matched` counts the neighbours that are joined, drawn or not."""

    joined: list[Neighbour]
    matched: Count
    left: EgoSide
    right: EgoSide


class Piece(TypedDict):
    """A piece of a value; `equal`: the other account's value has it too."""

    text: str
    equal: bool


class FieldRow(TypedDict):
    """One field of both profiles; null where it is missing. `similarity` is null too in blind mode."""

    name: str
    kind: str
    left: list[Piece] | None
    right: list[Piece] | None
    equal: bool
    similarity: Share | None


class Pair(TypedDict):
    """Everything about one pair; null in blind mode and where the pair is no candidate. `asked`: may be answered."""

    run: str
    left: Account
    right: Account
    probability: Share | None
    score: float | None
    margin: float | None
    counterpart: Share | None
    rank: Count | None
    assigned: bool
    decision: Decision | None
    known: bool
    rejected: bool
    verdict: Verdict | None
    standing: list[Entry]
    seen: Count
    warnings: list[Warning]
    candidates: list[Choice]
    rivals: list[Choice]
    ego: Ego
    profiles: list[FieldRow]
    evidence: Evidence
    way: Way | None
    blind: bool
    asked: bool


class OnePair(TypedDict):
    """A pair, or null where none is left."""

    pair: Pair | None


class QueueRow(TypedDict):
    """A pair of the queue."""

    left: Account
    right: Account
    probability: Share | None
    decision: Decision | None
    information: float | None
    verdict: Verdict | None
    mine: bool


class Page(TypedDict):
    """Some rows of a list."""

    total: Count
    offset: Count
    limit: Count


class Queue(Page):
    """A page of the queue."""

    pairs: list[QueueRow]


class Contradiction(TypedDict):
    """An account that is confirmed with several partners."""

    side: Side
    id: str
    partners: list[str]


class History(Page):
    """A page of the log, newest first; `head` is the newest hash of the chain."""

    entries: list[Logged]
    contradictions: list[Contradiction]
    head: str


class SearchHit(Account):
    """An account, and its known partner or its best candidate."""

    known: bool
    partner: Account | None
    candidates: Count


class Found(TypedDict):
    """Accounts whose id contains the text."""

    text: str
    left: list[SearchHit]
    right: list[SearchHit]


class Reliability(TypedDict):
    """Reviewed pairs by predicted probability: the mean prediction and the share that reviewers confirmed."""

    low: Share
    high: Share
    pairs: Count
    predicted: Share
    confirmed: Share


class Verdicts(TypedDict):
    """Counts of verdicts."""

    yes: Count
    no: Count
    unsure: Count


class Reviewer(TypedDict):
    """Who decides."""

    reviewer: str


class ReviewerCounts(Reviewer, Verdicts):
    """Standing decisions of one reviewer."""


class VerdictTable(TypedDict):
    """For each verdict of the first reviewer, those of the second."""

    yes: Verdicts
    no: Verdicts
    unsure: Verdicts


class Agreement(TypedDict):
    """How two reviewers judged the pairs that both decided."""

    first: str
    second: str
    both: Count
    same: Count
    kappa: Annotated[float, Field(ge=-1, le=1)] | None
    table: VerdictTable


class Towards(TypedDict):
    """How far the accepted pairs are from the target precision; `more` is null where it cannot be reached."""

    target: Share
    pairs: Count
    precision_before: Share | None
    precision_now: Share | None
    more: Count | None
    decided: Count
    yes: Count
    no: Count
    queue: Count
    reliability: list[Reliability]


class Progress(Towards):
    """How far the review has come."""

    unsure: Count
    mine: Count
    entries: Count
    head: str
    reviewers: list[ReviewerCounts]
    agreement: list[Agreement]


class Decided(TypedDict):
    """The recorded decision."""

    entry: Entry


class Undone(TypedDict):
    """The recorded undo, or null where nothing was left to undo."""

    entry: Entry | None
    accounts: Accounts | None


class Session(TypedDict):
    """The run, the reviewer, and the CSRF token that writes need."""

    csrf: str
    reviewer: str | None
    reviewers: list[str]
    run: str
    name: str
    method: str
    accounts: Two
    anchors: Count
    target: Share
    version: str
    audit: bool
