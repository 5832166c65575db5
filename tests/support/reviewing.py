"""A small run with hostile ids for the tests of the review app, and a client that has opened the printed link."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from kedge.config import Config
from kedge.decide.decisions import decide
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import rank_candidates
from kedge.probability.calibration import calibrate
from kedge.review.app import create_app
from kedge.review.data import ReviewData, from_solution
from kedge.review.guard import Access
from kedge.store.decisions import DecisionLog
from kedge.types import IntArray, Network, Problem

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
# How a run is made has its own tests; here the quickest way will do.
QUICK: dict[str, dict[str, Any]] = {
    "evidence": {"form": "sparse", "rounds": 5},
    "pairing": {"use": "yes", "refinements": 1},
    "decide": {"folds": 1},
}
QUICK_WORDS = [f"--set={stage}.{name}={value}" for stage, fields in QUICK.items() for name, value in fields.items()]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "\u202egro.elpmaxe\u202c",
    "../../etc/passwd",
    "a\u200bb",
    "&lt;b&gt;&amp;",
    "עברית",
    "\u2067isolate\u2069",
    "'\"><svg/onload=alert(1)>",
    "=cmd|' /C calc'!A0",
    "%2e%2e%2f",
]


def small_problem(n: int = 120, seed: int = 0, hostile: bool = True) -> tuple[Problem, IntArray]:
    """Two noisy copies of one network with a third of the pairs known, and the other true pairs."""
    rng = np.random.default_rng(seed)
    edges = np.array(
        [(i, j) for i in range(n) for j in range(i) if rng.random() < (0.5 if i // 12 == j // 12 else 0.02)]
    )
    kept = [edges[rng.random(len(edges)) < 0.8] for _ in range(2)]
    order = rng.permutation(n)
    place = np.empty(n, int)
    place[order] = np.arange(n)
    names = [[f"{side}{i:03d}" for i in range(n)] for side in "ab"]
    if hostile:
        for i, text in enumerate(HOSTILE):
            names[0][50 + i] = text
            names[1][place[50 + i]] = text + "!"
    left = Network.from_edges(kept[0], n, names[0])
    right = Network.from_edges(place[kept[1]], n, names[1])
    truth = np.column_stack([np.arange(n), place])
    return Problem(left, right, truth[: n // 3]), truth[n // 3 :]


def small_run(n: int = 120, seed: int = 0, hostile: bool = True) -> tuple[ReviewData, IntArray]:
    """The problem, matched, for review."""
    problem, others = small_problem(n, seed, hostile)
    config = Config.model_validate(QUICK)
    evidence = propagate(problem, config.evidence)
    once = config.model_copy(update={"decide": config.decide.model_copy(update={"folds": 1})})
    calibrator = calibrate(problem, lambda p: rank_candidates(p, propagate(p, config.evidence)), once)
    matches = decide(problem, rank_candidates(problem, evidence), calibrator, config)
    return from_solution("small", "run-1", problem, matches, config, evidence), others


class Client:
    """Requests straight to the app, without a socket; keeps cookies as a browser does."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.cookies = httpx.Cookies()

    def request(self, method: str, path: str, follow: bool = True, **more: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=self.cookies) as client:
                answer = await client.request(method, ORIGIN + path, follow_redirects=follow, **more)
                self.cookies = client.cookies
                return answer

        return asyncio.run(send())

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)


class Browser:
    """A client as the app's own page: it has the cookie, and sends Origin and the CSRF token with writes."""

    def __init__(self, data: ReviewData, log: DecisionLog, reviewer: str | None = "ann") -> None:
        self.keys = Access(frozenset({HOST}))
        self._open(create_app(data, log, self.keys, reviewer), data)

    @classmethod
    def into(cls, app: Any, keys: Access, data: ReviewData, cookies: httpx.Cookies | None = None) -> Browser:
        """One more browser for a server that is running, perhaps with cookies that it kept."""
        made = cls.__new__(cls)
        made.keys = keys
        made._open(app, data, cookies)
        return made

    def _open(self, app: Any, data: ReviewData, cookies: httpx.Cookies | None = None) -> None:
        self.data = data
        self.app = app
        self.client = Client(self.app)
        self.client.cookies.update(cookies)
        self._sent = 0
        answer = self.client.get(f"/?token={self.keys.token}")
        assert answer.status_code == 200
        self.csrf = self.get("/api/session")["csrf"]

    @property
    def session(self) -> str:
        """The value of its session cookie."""
        return str(self.client.cookies[self.keys.cookie])

    def get(self, path: str, code: int = 200, **parameters: Any) -> Any:
        answer = self.client.get(path, params=parameters)
        assert answer.status_code == code, answer.text
        return answer.json()

    def post(self, path: str, body: Any, code: int = 201) -> Any:
        headers = {"origin": ORIGIN, "x-kedge-csrf": self.csrf}
        answer = self.client.post(path, json=body, headers=headers)
        assert answer.status_code == code, answer.text
        return answer.json()

    def key(self) -> str:
        self._sent += 1
        return f"key-{id(self)}-{self._sent:05d}"

    def decide(self, pair: Any, verdict: str, code: int = 201, **more: Any) -> Any:
        body = {
            "left": pair["left"]["account"],
            "right": pair["right"]["account"],
            "verdict": verdict,
            "key": self.key(),
            "run": pair["run"],
            "seen": pair["seen"],
            **more,
        }
        return self.post("/api/decisions", body, code)

    def next(self, **parameters: Any) -> Any:
        return self.get("/api/next", **parameters)["pair"]


def open_log(folder: Path) -> DecisionLog:
    return DecisionLog(folder / "decisions.sqlite")
