"""The review app through its JSON: queue, evidence, decisions, undo, second opinions, search, progress."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import schemathesis
from reviewing import HOSTILE, Browser, open_log, small_run
from scipy.sparse import csr_array
from tampering import make_run

from kedge.evidence.terms import terms
from kedge.review.app import PAGES
from kedge.review.data import ReviewData
from kedge.review.openapi import document
from kedge.review.order import impact, information_order, uncertainty
from kedge.review.progress import Reviewed, towards_target
from kedge.review.queue import ReviewQueue
from kedge.store import read_manifest, seal
from kedge.store.decisions import DecisionLog
from kedge.types import IntArray

Run: TypeAlias = tuple[ReviewData, IntArray]  # the run and its true pairs that are not anchors


@pytest.fixture(scope="module")
def run() -> Run:
    return small_run()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    opened = open_log(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def browser(run: Run, log: DecisionLog) -> Browser:
    return Browser(run[0], log)


def test_information_is_uncertainty_times_impact(run: Run) -> None:
    data, _ = run
    problem, matches = data.problem, data.matches
    assert (np.diff(data.information) <= 1e-12).all(), "the most informative first"
    rows = data.queue
    for u in range(0, problem.left.n, 11):
        p = matches.probability[(matches.left == u) & (matches.rank <= 9)]
        assert uncertainty(matches, problem.left.n)[u] == pytest.approx(sum(x * (1 - x) for x in p))
    unsure = uncertainty(matches, problem.left.n)[matches.left[rows]]
    value = impact(problem, matches.left[rows], matches.right[rows], unsure)
    partner = dict(
        zip(matches.left[rows].tolist(), zip(matches.right[rows].tolist(), unsure, strict=True), strict=True)
    )
    A, B = problem.left.adjacency.toarray() > 0, problem.right.adjacency.toarray() > 0
    for i in range(0, len(rows), 7):
        u, v = int(matches.left[rows[i]]), int(matches.right[rows[i]])
        gain = sum(h for a, (b, h) in partner.items() if A[u, a] and B[v, b])
        degree = np.sqrt(A[u].sum() * B[v].sum())
        assert value[i] == pytest.approx(1 + gain / degree, rel=1e-5)
    sure = replace(matches, probability=(matches.rank == 1).astype(float))
    assert information_order(problem, sure)[1].max() < 1e-9


def test_the_next_pair_is_the_first_of_the_queue_until_it_is_decided(browser: Browser) -> None:
    first = browser.next()
    queue = browser.get("/api/queue", limit=3)
    assert queue["pairs"][0]["left"] == first["left"]
    browser.decide(first, "no")
    second = browser.next()
    assert second["left"] == queue["pairs"][1]["left"]
    skipped = browser.next(after=second["left"]["account"])
    assert skipped["left"] == queue["pairs"][2]["left"]
    assert browser.get("/api/queue")["total"] == queue["total"] - 1


def test_evidence_adds_up_and_names_the_neighbours(browser: Browser, run: Run) -> None:
    data, _ = run
    pair = browser.next()
    u, v = pair["left"]["account"], pair["right"]["account"]
    assert pair["evidence"]["total"] == pytest.approx(sum(s["weight"] for s in pair["evidence"]["steps"]), abs=1e-9)
    assert data.evidence is not None
    expected = sum([term.weight for term in terms(data.problem, data.evidence, u, v)])
    assert pair["evidence"]["total"] == pytest.approx(expected, abs=0.0051)
    neighbours = set(data.problem.left.adjacency[[u]].indices.tolist())
    for twin in pair["ego"]["joined"]:
        assert twin["left"]["account"] in neighbours
        assert twin["known"] == (data.partner[0][twin["left"]["account"]] == twin["right"]["account"])
    drawn = len(pair["ego"]["joined"]) + len(pair["ego"]["left"]["alone"]) + pair["ego"]["left"]["more"]
    assert drawn == pair["left"]["degree"]


def test_the_drawing_and_the_evidence_have_the_same_neighbours(run: Run, log: DecisionLog) -> None:
    data, _ = run
    assert data.evidence is not None
    # Each account may be several: beliefs are spread, as in the first rounds of hard problems.
    rng = np.random.default_rng(3)
    spread = data.evidence.support.toarray() + rng.dirichlet(np.full(data.problem.right.n, 0.05), data.problem.left.n)
    browser = Browser(replace(data, evidence=replace(data.evidence, support=csr_array(spread / 2))), log)
    for row in browser.get("/api/queue", limit=20)["pairs"]:
        pair = browser.get("/api/pair", left=row["left"]["account"], right=row["right"]["account"])["pair"]
        named = [(s["left"], s["right"]) for s in pair["evidence"]["steps"] if s["kind"] == "neighbour"]
        assert named == [(twin["left"], twin["right"]) for twin in pair["ego"]["joined"]]
        counts = {s["kind"]: s["count"] for s in pair["evidence"]["steps"] if s["kind"] != "neighbour"}
        assert len(named) + counts.get("other", 0) == pair["ego"]["matched"]
        for side in (0, 1):
            accounts = [both[side]["account"] for both in named]
            assert len(accounts) == len(set(accounts))


def test_the_way_to_the_probability_adds_up(browser: Browser) -> None:
    pair = browser.next()
    way = pair["way"]
    assert way["shares"][0]["words"][0] == {"text": pair["right"]["id"], "id": True}
    assert sum(line["share"] for line in way["shares"]) == pytest.approx(1.0)
    (product,), _ = way["counterpart"]
    share, counterpart, probability = map(float, re.findall(r"[\d.]+", product["text"]))
    assert share == way["shares"][0]["share"]
    assert share * counterpart == pytest.approx(probability, abs=2e-3)
    assert probability == pytest.approx(pair["probability"], abs=6e-4)
    assert browser.next(blind=1)["way"] is None


def test_what_the_vectors_add_is_a_step_of_its_own(run: Run, log: DecisionLog) -> None:
    data, _ = run
    assert data.evidence is not None
    without = Browser(data, log).next()
    u, v = without["left"]["account"], without["right"]["account"]
    prior = csr_array(([2.5], ([u], [v])), shape=(data.problem.left.n, data.problem.right.n))
    pair = Browser(replace(data, evidence=replace(data.evidence, prior=prior)), log).next()
    assert (pair["left"]["account"], pair["right"]["account"]) == (u, v)
    assert {"kind": "vectors", "count": 1, "weight": 2.5} in pair["evidence"]["steps"]
    assert pair["evidence"]["total"] == pytest.approx(without["evidence"]["total"] + 2.5, abs=1e-9)


def test_without_beliefs_the_shared_anchors_explain(run: Run, log: DecisionLog) -> None:
    data = replace(run[0], evidence=None)
    pair = Browser(data, log).next()
    assert pair["evidence"]["unit"] == "shared anchors"
    A, B = data.problem.left.adjacency, data.problem.right.adjacency
    u, v = pair["left"]["account"], pair["right"]["account"]
    shared = [a for a, b in data.problem.anchors.tolist() if A[u, a] and B[v, b]]
    assert len(pair["ego"]["joined"]) == min(len(shared), 12)


def test_a_runner_up_can_be_picked_instead(browser: Browser) -> None:
    first = browser.next()
    other = next(c for c in first["candidates"] if c["account"] != first["right"]["account"])
    looked = browser.get("/api/pair", left=first["left"]["account"], right=other["account"])["pair"]
    browser.decide(looked, "yes")
    shown = browser.next()
    assert shown["left"] != first["left"], "the account is settled"
    again = browser.get("/api/pair", left=first["left"]["account"], right=first["right"]["account"])["pair"]
    assert again["warnings"][0]["partner"] == other["id"]


def test_undo_goes_back_to_any_depth(browser: Browser, log: DecisionLog) -> None:
    decided = []
    for verdict in ("yes", "no", "unsure", "no"):
        pair = browser.next()
        browser.decide(pair, verdict, despite=True)
        decided.append(pair["left"]["account"])
    for account in reversed(decided):
        answer = browser.post("/api/undo", {"key": browser.key()})
        assert answer["accounts"]["left"] == account
    assert browser.post("/api/undo", {"key": browser.key()}, 200)["entry"] is None
    assert browser.next()["left"]["account"] == decided[0]
    assert browser.get("/api/history")["total"] == 8
    assert log.verify() == 8


def test_an_entry_of_the_history_can_be_undone(browser: Browser) -> None:
    first, second = browser.next(), None
    browser.decide(first, "no")
    second = browser.next()
    browser.decide(second, "no")
    browser.post("/api/undo", {"key": browser.key(), "seq": 1})
    history = browser.get("/api/history")["entries"]
    assert [entry["undone_by"] for entry in history] == [None, None, 3]
    browser.post("/api/undo", {"key": browser.key(), "seq": 1}, 409)
    browser.post("/api/undo", {"key": browser.key(), "seq": 3}, 409)


def test_confirming_an_account_twice_needs_a_second_word(browser: Browser, log: DecisionLog) -> None:
    first = browser.next()
    browser.decide(first, "yes")
    other = next(c for c in first["candidates"] if c["account"] != first["right"]["account"])
    looked = browser.get("/api/pair", left=first["left"]["account"], right=other["account"])["pair"]
    answer = browser.decide(looked, "yes", 409)
    assert answer["contradiction"][0]["partner"] == first["right"]["id"]
    assert answer["contradiction"][0]["by"] == "ann"
    assert len(log.state.entries) == 1
    browser.decide(looked, "yes", despite=True)
    assert browser.get("/api/history")["contradictions"][0]["id"] == first["left"]["id"]
    assert log.state.resolved().confirmed == ()


def test_an_anchored_account_is_a_contradiction_too(browser: Browser, run: Run) -> None:
    data, _ = run
    anchored = int(data.problem.anchors[0, 0])
    wrong = int(data.problem.anchors[1, 1])
    pair = browser.get("/api/pair", left=anchored, right=wrong)["pair"]
    assert {w["by"] for w in pair["warnings"]} == {"anchor"}
    browser.decide(pair, "yes", 409)


def test_two_tabs_on_one_pair(browser: Browser, log: DecisionLog) -> None:
    tab = browser.next()
    browser.decide(tab, "yes")
    answer = browser.decide(tab, "no", 409)
    assert answer["conflict"]
    assert [entry.action for entry in log.state.entries] == ["yes"]
    fresh = browser.get("/api/pair", left=tab["left"]["account"], right=tab["right"]["account"])["pair"]
    browser.decide(fresh, "no")
    assert log.state.verdict((tab["left"]["id"], tab["right"]["id"])) == "no"


def test_a_repeated_request_counts_once(browser: Browser, log: DecisionLog) -> None:
    pair = browser.next()
    key = browser.key()
    first = browser.decide(pair, "yes", key=key)
    again = browser.decide(pair, "yes", key=key)
    assert first == again
    assert len(log.state.entries) == 1


def test_a_key_that_was_used_for_another_request_is_refused(browser: Browser, log: DecisionLog) -> None:
    pair, key = browser.next(), browser.key()
    browser.decide(pair, "yes", key=key)
    for verdict, more in (("no", {}), ("yes", {"note": "other"})):
        assert "another request" in browser.decide(pair, verdict, 409, key=key, **more)["error"]
    assert "another request" in browser.post("/api/undo", {"key": key}, 409)["error"]
    assert len(log.state.entries) == 1


def test_two_servers_do_not_confirm_an_account_twice(
    run: Run, log: DecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Browser(run[0], log, "ann"), Browser(run[0], open_log(log.path.parent), "bob")
    pair = first.next()
    other = next(c for c in pair["candidates"] if c["account"] != pair["right"]["account"])
    first.decide(pair, "yes")
    with monkeypatch.context() as late:  # the second looked a moment before the first wrote
        late.setattr(ReviewQueue, "sync", lambda _self: None)
        answer = second.decide({**pair, "right": other}, "yes", 409)
    assert answer["contradiction"][0]["partner"] == pair["right"]["id"]
    assert log.refresh().contradictions() == []


def test_a_server_notices_that_its_run_was_replaced(run: Run, tmp_path: Path) -> None:
    made = make_run(tmp_path)
    data = replace(run[0], directory=made, run_id=read_manifest(made)["run_id"])
    log = open_log(made)
    browser = Browser(data, log)
    pair = browser.next()
    browser.decide(pair, "no")
    manifest = json.loads((made / "manifest.json").read_text())
    (made / "manifest.json").write_text(json.dumps(seal({**manifest, "run_id": "another"})))
    for answer in (browser.get("/api/next", 409), browser.decide(pair, "yes", 409)):
        assert answer["replaced"]
        assert "matched again or replaced" in answer["error"]
    browser.post("/api/undo", {"key": browser.key()}, 409)
    (made / "manifest.json").write_text(json.dumps(manifest))
    assert browser.next()["left"] != pair["left"]
    rows = len(log.state.entries)
    (made / "decisions.sqlite").rename(made / "away")
    open_log(tmp_path).close()
    (tmp_path / "decisions.sqlite").rename(made / "decisions.sqlite")
    assert "replaced or cut" in browser.decide(pair, "yes", 409)["error"]
    assert rows == len(log.state.entries)
    log.close()


def test_a_log_that_cannot_be_written_is_reported(browser: Browser, log: DecisionLog) -> None:
    pair = browser.next()
    log._db.execute("PRAGMA busy_timeout = 1")
    with contextlib.closing(sqlite3.connect(log.path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert "cannot be saved" in browser.decide(pair, "yes", 503)["error"]
        holder.execute("ROLLBACK")
    browser.decide(pair, "yes")


def test_looking_at_pairs_takes_no_memory(run: Run, log: DecisionLog) -> None:
    queue = ReviewQueue(run[0], log)
    n, m = run[0].problem.left.n, run[0].problem.right.n
    sizes = []
    tracemalloc.start()
    for looked in range(n * m):
        queue.verdict(looked // m, looked % m)
        if looked + 1 in (n * m // 2, n * m):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert n * m > 14_000
    assert sizes[1] - sizes[0] < 100_000, "the second 7,200 pairs cost nothing"


def test_a_page_of_another_run_may_not_decide(browser: Browser) -> None:
    browser.decide({**browser.next(), "run": "another"}, "yes", 409)


def test_two_reviewers_and_their_agreement(run: Run, log: DecisionLog) -> None:
    ann, bob = Browser(run[0], log, "ann"), Browser(run[0], log, None)
    bob.decide(bob.next(), "yes", 403)
    bob.post("/api/reviewer", {"name": "  Bob "}, 200)
    assert bob.get("/api/session")["reviewer"] == "Bob"
    pairs = []
    for verdict in ("yes", "no", "unsure"):
        pair = ann.next()
        ann.decide(pair, verdict, despite=True)
        pairs.append(pair)
    assert bob.get("/api/queue", status="second")["total"] == 3
    for verdict in ("yes", "no", "no"):
        bob.decide(bob.next(status="second", blind=1), verdict, despite=True)
    assert bob.get("/api/queue", status="second")["total"] == 0
    (found,) = ann.get("/api/progress")["agreement"]
    assert (found["first"], found["second"], found["both"], found["same"]) == ("Bob", "ann", 3, 2)
    assert found["kappa"] == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    bob.decide(ann_view(bob, pairs[0]), "no")
    assert ann.get("/api/queue", status="disputed")["total"] == 1


def ann_view(browser: Browser, pair: Any) -> Any:
    return browser.get("/api/pair", left=pair["left"]["account"], right=pair["right"]["account"])["pair"]


def test_blind_mode_hides_every_score_and_other_opinions(run: Run, log: DecisionLog) -> None:
    ann, bob = Browser(run[0], log, "ann"), Browser(run[0], log, "bob")
    pair = ann.next()
    ann.decide(pair, "yes", note="sure")
    seen = bob.get("/api/pair", left=pair["left"]["account"], right=pair["right"]["account"], blind=1)["pair"]
    for name in ("probability", "score", "margin", "rank", "decision", "verdict", "counterpart"):
        assert seen[name] is None, name
    assert seen["standing"] == []
    assert all(c["probability"] is None and c["verdict"] is None for c in seen["candidates"] + seen["rivals"])
    assert [c["id"] for c in seen["candidates"]] == sorted(c["id"] for c in seen["candidates"])
    assert seen["evidence"]["total"] is None
    assert all(step["weight"] is None for step in seen["evidence"]["steps"])
    assert all(row["probability"] is None for row in bob.get("/api/queue", blind=1)["pairs"])


def test_a_blind_history_hides_the_answers_of_others(run: Run, log: DecisionLog) -> None:
    ann, bob = Browser(run[0], log, "ann"), Browser(run[0], log, "bob")
    pair = ann.next()
    ann.decide(pair, "yes")
    other = next(c for c in pair["candidates"] if c["account"] != pair["right"]["account"])
    bob.decide({**pair, "right": other, "seen": 0}, "yes", despite=True)
    seen = bob.get("/api/history")
    assert (seen["total"], len(seen["contradictions"])) == (2, 1)
    blind = bob.get("/api/history", blind=1, reviewer="ann")
    assert [entry["reviewer"] for entry in blind["entries"]] == ["bob"]
    assert blind["contradictions"] == []


def test_a_forgotten_decision_is_history_without_words(browser: Browser, run: Run, log: DecisionLog) -> None:
    pair = browser.next()
    browser.decide(pair, "yes")
    log.forget(0, pair["left"]["id"], by="purge")
    entries = Browser(run[0], log).get("/api/history")["entries"]
    assert [(e["action"], e["forgotten"], e["left"]) for e in entries] == [("purge", False, ""), ("yes", True, "")]
    assert not entries[1]["standing"]


def test_filters(browser: Browser, run: Run) -> None:
    data, _ = run
    total = browser.get("/api/queue", status="all")["total"]
    assert total == len(data.queue)
    middle = float(np.median([row["probability"] for row in browser.get("/api/queue", status="all")["pairs"]]))
    low = browser.get("/api/queue", status="all", most=middle, limit=200)["pairs"]
    assert low
    assert all(row["probability"] <= middle + 1e-4 for row in low)
    by_word = {w: browser.get("/api/queue", status="all", decision=w)["total"] for w in ("match", "review", "no match")}
    assert sum(by_word.values()) == total
    assert all(
        "a05" in row["left"]["id"] or "a05" in row["right"]["id"] for row in browser.get("/api/queue", q="a05")["pairs"]
    )
    pages = [browser.get("/api/queue", status="all", offset=o, limit=10)["pairs"] for o in (0, 10)]
    assert len({row["left"]["account"] for page in pages for row in page}) == 20
    for wrong in ({"status": "x"}, {"least": "2"}, {"least": "nan"}, {"offset": "-1"}, {"limit": "１"}, {"blind": "x"}):
        browser.get("/api/queue", 422, **wrong)


def test_search_finds_accounts_of_both_sides(browser: Browser, run: Run) -> None:
    data, _ = run
    found = browser.get("/api/search", q="a000")
    assert found["left"][0]["id"] == "a000"
    assert found["left"][0]["known"]
    partner = found["left"][0]["partner"]["account"]
    assert partner == data.partner[0][0]
    found = browser.get("/api/search", q=HOSTILE[0])
    assert found["left"][0]["id"] == HOSTILE[0]
    assert found["right"][0]["id"] == HOSTILE[0] + "!"
    assert browser.get("/api/search", q="nobody") == {"text": "nobody", "left": [], "right": []}


def test_progress_counts_towards_the_target(run: Run, log: DecisionLog) -> None:
    matches = run[0].matches
    called = replace(matches, decision=np.where(matches.assigned, 2, 0), threshold=0.0)
    browser = Browser(replace(run[0], matches=called), log)
    before = browser.get("/api/progress", target=0.99)
    assert before["precision_now"] == before["precision_before"]
    assert before["more"] > 0
    truth = {int(u): int(v) for u, v in run[1]}
    for _ in range(before["more"]):
        pair = browser.next()
        if pair is None:
            break
        right = truth.get(pair["left"]["account"]) == pair["right"]["account"]
        browser.decide(pair, "yes" if right else "no", despite=True)
    after = browser.get("/api/progress", target=0.99)
    assert after["precision_now"] > before["precision_now"]
    assert after["yes"] + after["no"] >= before["more"] - 1
    assert sum(row["pairs"] for row in after["reliability"]) == after["yes"] + after["no"]
    assert browser.get("/api/progress", target=0.01)["more"] == 0


def test_towards_target_by_hand() -> None:
    p = np.array([0.5, 0.5, 1.0, 1.0])
    none, all_ = np.zeros(4, bool), np.ones(4, bool)
    # n - sum/T = 4 - 3/0.9 = 0.667: two answers of 0.5 each are needed.
    found = towards_target(p, all_, Reviewed(none, none, all_), 0.9)
    assert found["precision_now"] == 0.75
    assert found["more"] == 2
    # After a yes and a no: 3 pairs, all sure.
    yes, no = np.array([1, 0, 0, 0], bool), np.array([0, 1, 0, 0], bool)
    found = towards_target(p, all_, Reviewed(yes, no, ~(yes | no)), 0.9)
    assert found["precision_now"] == 1.0
    assert found["more"] == 0
    # Three pairs that were confirmed outside the queue: 7 pairs, of which 6 are expected to be right.
    found = towards_target(p, all_, Reviewed(none, none, all_), 0.9, besides=3)
    assert found["pairs"] == 7
    assert found["precision_now"] == pytest.approx(6 / 7)


def test_the_queue_takes_in_what_another_process_wrote(browser: Browser, log: DecisionLog) -> None:
    pair = browser.next()
    other = open_log(log.path.parent)
    other.append("bob", "no", pair["left"]["id"], pair["right"]["id"])
    other.append("bob", "yes", "gone", "away")
    other.close()
    assert browser.next()["left"] != pair["left"]
    entries = browser.get("/api/history")["entries"]
    assert entries[0]["accounts"] is None, "an account of other data is listed, not lost"


def test_a_restart_continues_where_it_was(run: Run, log: DecisionLog) -> None:
    before = Browser(run[0], log)
    for _ in range(5):
        before.decide(before.next(), "no")
    upcoming = before.next()
    after = Browser(run[0], open_log(log.path.parent))
    assert after.next() == upcoming


def test_every_page_has_a_json_twin_that_is_documented(browser: Browser) -> None:
    documented = document()
    schemathesis.openapi.from_dict(documented).validate()
    assert browser.get("/api/openapi.json") == json.loads(json.dumps(documented))
    for path, operations in documented["paths"].items():
        for method in operations:
            assert browser.client.request(method.upper(), path).status_code != 404
    for page, twin in zip(PAGES, ("/api/next", "/api/queue", "/api/history", "/api/progress"), strict=True):
        assert browser.client.get(page).headers["content-type"].startswith("text/html")
        assert twin in documented["paths"]
