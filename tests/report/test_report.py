"""The report: its numbers are the run's, other people's words stay words, and it needs nothing but itself."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command import kedge
from report_runs import HOSTILE, facts_of, make_contents, without_rows, write_contents

from kedge.decide.decisions import thresholds
from kedge.evaluation import metrics as evaluate
from kedge.evaluation.breakdowns import OUTCOMES, breakdown
from kedge.pipeline import load_outcome, measure
from kedge.pipeline.explain import explain_pair
from kedge.report import build_report, report_figures, standalone_svg
from kedge.report.axes import root_ticks
from kedge.report.examples import explain_first
from kedge.report.facts import gather_facts, interval
from kedge.report.markup import data_block, name_of, tag
from kedge.store import load_contents, read_manifest


class Reader(HTMLParser):
    """The elements, attributes and texts of a page as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.live: dict[str, str] = {}
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in ("meta", "link", "input", "br"):
            self._open.append((name, dict(attributes)))

    def handle_endtag(self, name: str) -> None:
        assert self._open
        assert self._open[-1][0] == name, f"</{name}> closes <{self._open[-1][0]}>"
        self._open.pop()

    def handle_data(self, text: str) -> None:
        if not self._open:
            return
        name, attributes = self._open[-1]
        self.texts.setdefault(name, []).append(text)
        live = attributes.get("data-live")
        if live is not None:
            self.live[live] = text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run, matched from files with test pairs."""
    folder = tmp_path_factory.mktemp("report")
    kedge("synth", "-o", folder / "data", "--nodes", 300, "--overlap", 0.9, "--seed", 1, "-q")
    files = [folder / "data" / f"{name}.tsv" for name in ("left", "right", "train", "test")]
    words = ["match", files[0], files[1], "--anchors", files[2], "--method", "common-neighbours"]
    kedge(*words, "--test", files[3], "-o", folder / "tested", "-q")
    kedge(*words, "-o", folder / "untested", "-q", "--set", "decide.threshold=0.335")
    return folder


def test_match_writes_the_report_by_itself(run: Path) -> None:
    page = (run / "tested" / "report.html").read_text("utf-8")
    assert page == build_report(load_contents(run / "tested"))
    assert (run / "tested" / "report.html").stat().st_mode & 0o777 == 0o600


def test_numbers_of_the_page_are_those_of_the_run(run: Path) -> None:
    page = (run / "tested" / "report.html").read_text("utf-8")
    facts = facts_of(page)
    solution, manifest = load_outcome(run / "tested"), read_manifest(run / "tested")
    decided = [len(solution.matches.partners(word)) for word in ("match", "review")]
    free = solution.problem.left.n - len(solution.problem.anchors)
    assert facts["decisions"] == {"match": decided[0], "review": decided[1], "no match": free - sum(decided)}
    assert facts["accounts"] == {"left": solution.problem.left.n, "right": solution.problem.right.n}
    assert facts["anchors"] == len(solution.problem.anchors)
    at = facts["thresholds"].index(facts["threshold"])
    assert (facts["matches"][at], facts["review"][at]) == tuple(decided)
    rows = thresholds(solution.calibrator, facts["thresholds"])
    assert facts["validation_curve"]["precision"] == pytest.approx([row["precision"] for row in rows])
    assert facts["validation_curve"]["recall"] == pytest.approx([row["recall"] for row in rows])
    assert facts["validation_curve"]["made"] == [row["matches"] for row in rows]
    stored = json.loads((run / "tested" / "metrics.json").read_text())
    assert facts["metrics"] == stored
    assert sum(stage["cpu_seconds"] for stage in facts["stages"]) == pytest.approx(
        sum(stage["cpu_seconds"] for stage in manifest["stages"].values())
    )
    live = Reader(page).live
    assert live["matches"] == f"{decided[0]:,}"
    assert live["validation_curve.precision"] == (
        "–" if rows[at]["precision"] is None else f"{100 * rows[at]['precision']:.1f}%"
    )


def test_test_pairs_in_the_evaluation_agree_with_the_metrics(run: Path) -> None:
    held = json.loads((run / "tested" / "evaluation.json").read_text())
    stored = json.loads((run / "tested" / "metrics.json").read_text())
    curve = held["thresholds"]
    assert curve["threshold"][0] == 0
    assert curve["right"][0] / held["test_pairs"] == pytest.approx(stored["recall"])
    assert curve["right"][0] / curve["made"][0] == pytest.approx(stored["precision"])
    known = held["test_pairs"] - held["unknown"]
    for rows in (held["degree"]["left"], held["degree"]["right"], held["communities"]):
        assert sum(sum(row["counts"]) for row in rows) == known
        totals = np.sum([row["counts"] for row in rows], axis=0)
        assert totals[OUTCOMES.index("right match")] + totals[OUTCOMES.index("right, in review")] <= curve["right"][0]
    names = set(load_contents(run / "tested").problem.left.ids.to_pylist())
    assert not names & set(re.findall(r"\w+", json.dumps(held)))


def test_a_run_without_test_pairs_has_a_report_without_their_figures(run: Path) -> None:
    page = (run / "untested" / "report.html").read_text("utf-8")
    facts = facts_of(page)
    assert facts["test"] is None
    assert facts["test_curve"] is None
    assert "test pairs" not in page
    assert "figure-hits" not in page
    assert "figure-degree-left" not in page
    assert "figure-decisions" in page
    # A threshold between the steps of the slider is one of its places.
    assert facts["threshold"] == 0.335
    assert facts["threshold"] in facts["thresholds"]
    assert Reader(page).live["threshold"] == "0.335"
    assert any(row["name"] == "decide.threshold" for row in facts["settings"])


def test_matching_again_without_test_pairs_keeps_their_figures(run: Path, tmp_path: Path) -> None:
    files = [run / "data" / f"{name}.tsv" for name in ("left", "right", "train", "test")]
    words = ["match", files[0], files[1], "--anchors", files[2], "--method", "common-neighbours", "-o", tmp_path / "r"]
    kedge(*words, "--test", files[3], "-q")
    before = load_contents(tmp_path / "r")
    assert before.evaluation is not None
    kedge(*words, "-q")
    after = load_contents(tmp_path / "r")
    assert (after.evaluation, after.metrics) == (before.evaluation, before.metrics)
    kedge(*words, "-q", "--force")
    assert load_contents(tmp_path / "r").metrics is None, "a new run"


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = make_contents(), make_contents()
    assert build_report(first) == build_report(second)
    assert build_report(load_contents(write_contents(first, tmp_path / "run"))) == build_report(first)


@pytest.mark.parametrize("place", ["ids", "inputs", "training"])
def test_hostile_names_are_text(place: str) -> None:
    training = {"curves": {"loss": {"left": [3.0, 2.0, 1.0]}}}
    plain = make_contents(training=training)
    if place == "ids":
        contents = make_contents(names=HOSTILE, training=training)
    elif place == "inputs":
        contents = make_contents(inputs=(HOSTILE[0], HOSTILE[4]), training=training)
    else:
        contents = make_contents(training={"curves": {HOSTILE[0]: {HOSTILE[1]: [3.0, 2.0, 1.0]}}})
    page = build_report(contents)
    seen, usual = Reader(page), Reader(build_report(plain))
    names = {name for name, _ in usual.elements}
    assert {name for name, _ in seen.elements} <= names
    assert [name for name, _ in seen.elements].count("script") == 2
    assert not {key for _, attributes in seen.elements for key in attributes if key.startswith("on")}
    assert not any(character in page for character in "\u202e\u2066\0\x1b")
    if place == "ids":
        shown = seen.texts["bdi"]
        assert HOSTILE[0] in shown
        assert "txt.[U+202E]gpj[U+2066].exe" in shown
        assert "line[U+000A]break[U+0000]and[U+001B][31m" in shown
        assert max(map(len, shown)) < 300
        titles = [attributes.get("title") or "" for _, attributes in seen.elements]
        assert any(text.endswith("… (and 4,760 more letters)") for text in titles), "what is cut is counted"


def test_no_id_is_outside_the_section_of_pairs() -> None:
    page = build_report(make_contents(names=["needle-one", "needle-two"]))
    pairs = page[page.index('<section aria-labelledby="pairs"') :]
    pairs = pairs[: pairs.index("</section>")]
    assert page.count("needle-one") == pairs.count("needle-one") > 2  # left and right of one row, and explained
    assert "needle" not in json.dumps(facts_of(page))


def test_probabilities_of_the_tables_are_products_and_the_first_pairs_are_explained(run: Path) -> None:
    contents = load_contents(run / "tested")
    facts = gather_facts(contents)
    for row in (*facts.surest, *facts.to_review):
        assert row.given_counterpart * row.counterpart == pytest.approx(row.probability)
    explained = explain_first(contents, facts)
    assert len(explained) == bool(facts.surest) + bool(facts.to_review)
    for (_, found), rows in zip(explained, (rows for rows in (facts.surest, facts.to_review) if rows), strict=True):
        assert (found.left, found.right, found.probability) == (rows[0].left, rows[0].right, rows[0].probability)
        assert found == dataclasses.replace(explain_pair(run / "tested", found.left, found.right), notes=())


def test_the_page_refers_to_nothing_outside_and_its_policy_fits_it() -> None:
    page = build_report(make_contents())
    reader = Reader(page)
    for name, attributes in reader.elements:
        for key in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            value = attributes.get(key)
            assert value is None or value.startswith("#") or value == "data:,", (name, key, value)
        assert "style" not in attributes  # the policy would drop it
    assert not re.search(r"https?://|@import|url\(", page)
    policy = next(str(a["content"]) for n, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        text = re.findall(rf"<{name}>(.*?)</{name}>", page, re.S)
        assert len(text) == 1
        assert f"sha256-{base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()}" in policy


def test_every_chart_can_be_read_without_seeing_it() -> None:
    page = build_report(make_contents())
    charts = re.findall(r'<svg class="chart".*?</svg>', page, re.S)
    assert len(charts) >= 8
    for chart in charts:
        root = ElementTree.fromstring(chart)
        assert root.get("role") == "img"
        assert root.findtext("title")
        assert root.findtext("desc")
    identities = [attributes["id"] for _, attributes in Reader(page).elements if "id" in attributes]
    assert len(identities) == len(set(identities))


def test_a_run_without_any_match_has_a_report() -> None:
    contents = make_contents(settings={"decide": {"threshold": 1.0}})
    page = build_report(contents)
    assert facts_of(page)["decisions"]["match"] == 0
    assert "No pair was decided to be a match" in page
    empty = dataclasses.replace(make_contents(held_out=0, tested=False), table=without_rows(contents))
    facts = facts_of(build_report(empty))
    assert facts["decisions"] == {"match": 0, "review": 0, "no match": 270}
    assert facts["validation"]["reliability"] == []


def test_training_and_parts_have_a_section_only_if_the_run_kept_them() -> None:
    assert 'id="training"' not in build_report(make_contents())
    training = {"curves": {"loss": {"left": list(np.linspace(2, 1, 5000)), "right": [2.0, 1.5]}}}
    page = build_report(make_contents(training=training, parts={"left": [100, 200], "right": [300]}))
    assert 'id="training"' in page
    assert "At the last step: left 1, right 1.5." in page
    assert "figure-parts" in page
    assert "Weights of the levels" not in page
    page = build_report(make_contents(training={**training, "levels": {"left": (0.61, 0.22), "right": None}}))
    assert "Weights of the levels" in page
    assert "0.610" in page
    assert "0.220" in page


def test_a_run_of_100_000_matches_is_a_small_page() -> None:
    contents = make_contents(112_000, held_out=5000, settings={"decide": {"threshold": 0.01}})
    facts = gather_facts(contents)
    assert facts.decisions["match"] > 100_000
    assert len(build_report(contents).encode()) < 300_000  # promised: 5 MB


def test_report_command_writes_page_and_figures(tmp_path: Path) -> None:
    run = write_contents(make_contents(), tmp_path / "run")
    kedge("report", run)
    kedge("report", run)  # its own older report is replaced
    done = json.loads(kedge("report", run, "-o", tmp_path / "page.html", "--figures", tmp_path / "f", "--json").stdout)
    assert (tmp_path / "page.html").read_bytes() == (run / "report.html").read_bytes()
    assert len(done["figures"]) == len(report_figures(load_contents(run)))
    for path in (tmp_path / "f").iterdir():
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_report_command_refuses_what_it_should(tmp_path: Path) -> None:
    run = write_contents(make_contents(), tmp_path / "run")
    (tmp_path / "mine.html").write_text("<p>my own notes</p>")
    assert "no kedge report" in kedge("report", run, "-o", tmp_path / "mine.html", code=2).stderr
    assert (tmp_path / "mine.html").read_text() == "<p>my own notes</p>"
    assert "no format" in kedge("report", run, "--figures", tmp_path / "f", "--format", "gif", code=2).stderr
    assert "no such run" in kedge("report", tmp_path / "none", code=2).stderr
    (run / "matches.parquet").unlink()
    assert "matches.parquet: is missing" in kedge("report", run, code=2).stderr


def test_png_without_a_browser_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_contents(make_contents(), tmp_path / "run")
    monkeypatch.setenv("PATH", str(tmp_path))
    printed = kedge("report", run, "--figures", tmp_path / "f", "--format", "png", code=2).stderr
    assert "install chromium" in printed
    assert not (tmp_path / "f").exists()


def test_standalone_figures_hold_their_legend_and_their_colours() -> None:
    for figure in report_figures(make_contents()).values():
        text = standalone_svg(figure)
        assert all(key.words in text for key in figure.legend)
        assert "--match: #0072b2" in text


def test_intervals_and_ticks_by_hand() -> None:
    assert interval(0, 0) == (None, None)
    assert interval(8, 10) == pytest.approx((0.490, 0.943), abs=1e-3)
    assert root_ticks(100, 200) == [0, 2, 10, 20, 50, 100]


def test_breakdown_of_a_real_run_repeats_the_metrics(run: Path) -> None:
    solution = load_outcome(run / "tested")
    config = solution.config
    assert breakdown(solution.problem, solution.matches, None, [0.0], 0) is None
    test = np.array([[5, 5], [6, 6], [-1, 3]])
    held = breakdown(solution.problem, solution.matches, test, [0.0], 0)
    measured = measure(solution, test, config.seed)
    assert held is not None
    assert held["thresholds"]["right"][0] / 3 == pytest.approx(measured["recall"])
    assert evaluate.decisions(solution.matches.partners(), test)["recall"] == measured["recall"]


def test_markup_escapes_what_is_text() -> None:
    assert tag("p", "<b>", title='"x"', hidden=None).html == '<p title="&quot;x&quot;">&lt;b&gt;</p>'
    assert "</script" not in data_block("d", {"x": "</script>"}).html[:-9]
    assert name_of("a\u202eb").html == "<bdi>a[U+202E]b</bdi>"
    assert name_of("می\u200cخواهم").html == "<bdi>می\u200cخواهم</bdi>"  # a joiner is a letter's business
