"""A run directory from Python: other decisions, files, people, and the same counts everywhere."""

from __future__ import annotations

import csv
import http.cookiejar
import json
import re
import urllib.request
from pathlib import Path

import pyarrow.parquet
import pytest
from command import kedge as command

import kedge
from kedge.api import Run, SynthPair


def test_counts_agree_between_command_line_report_and_python(folder: Path, tmp_path: Path) -> None:
    run = kedge.open(folder)
    command("export", folder, "-o", tmp_path / "pairs.csv")
    command("export", folder, "-o", tmp_path / "all.parquet", "--all")
    with (tmp_path / "pairs.csv").open() as file:
        exported = [(row["left"], row["right"], row["decision"]) for row in csv.DictReader(file)]
    assert exported == [(row.left, row.right, row.decision) for row in run.matches]
    everyone = pyarrow.parquet.read_table(tmp_path / "all.parquet")
    assert everyone.equals(run.all().to_arrow())
    words = everyone["decision"].to_pylist()
    decided = json.loads((folder / "decided.json").read_text())
    counts = {name: words.count(name) for name in ("match", "review", "no match")}
    assert counts == {name: decided[name] for name in counts}
    assert f"{counts['match']} matches, {counts['review']} to review, {counts['no match']} no match" in repr(run)
    page = (folder / "report.html").read_text()
    shown = re.sub("<[^>]*>", " ", page)
    assert re.search(rf"\b{counts['match']}\s+match", shown), "the report's own count"


def test_deciding_again_is_that_of_the_command_line(copy: Run, folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "other")
    before = len(copy.matches)
    summary = copy.decide(threshold=0.3)
    assert summary.match == summary["match"] == summary.to_dict()["match"]
    assert len(copy.matches) > before, "the table is read anew"
    command("decide", tmp_path / "other", "--threshold", 0.3)
    assert kedge.open(tmp_path / "other").matches.to_arrow().equals(copy.matches.to_arrow())
    assert "matches from a probability of 0.3 on" in repr(summary)
    assert copy.settings.decide.threshold == 0.3
    for wrong, words in (
        ({}, "nothing to change; give precision=, threshold=, one_to_one= or counterparts="),
        ({"precision": 1.5}, "precision= is 1.5"),
        ({"precision": 0.9, "threshold": 0.5}, "precision= and threshold= are both given"),
        ({"one_to_one": "no"}, "no assignment 'no'; choose optimal, greedy or off"),
    ):
        with pytest.raises(kedge.KedgeError, match=re.escape(words)):
            copy.decide(**wrong)


def test_deciding_in_memory_is_that_of_a_directory(pair: SynthPair, copy: Run) -> None:
    held = kedge.match(pair.left, pair.right, pair.train, test=pair.test)
    one, other = held.decide(precision=0.8), copy.decide(precision=0.8)
    names = ("threshold", "match", "review", "no match", "metrics")
    assert {name: one[name] for name in names} == {name: other[name] for name in names}
    assert held.matches.to_arrow().equals(copy.matches.to_arrow())


def test_evaluation(held: Run, copy: Run, pair: SynthPair, files: Path) -> None:
    assert copy.metrics is not None
    before = copy.metrics.to_dict()
    few = list(zip(*pair.test.slice(0, 20).to_pydict().values(), strict=True))
    found = copy.evaluate(few)
    assert found.test_pairs == 20
    assert "On 20 held-out pairs" in repr(found)
    assert "Hits@1" in found._repr_html_()
    assert copy.evaluate(files / "test.tsv").to_dict() == before
    with pytest.raises(kedge.KedgeError, match="name accounts that are in no edge"):
        copy.evaluate({"x": "y"})
    with pytest.raises(AttributeError, match="no figure 'hits'; there are: .*hits1"):
        _ = found.hits


def test_files(copy: Run, tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet", "a.json", "a.xlsx"):
        assert copy.export(tmp_path / name).stat().st_size > 0
    with pytest.raises(kedge.KedgeError, match="force=True"):
        copy.export(tmp_path / "a.csv")
    with pytest.raises(kedge.KedgeError, match="no format .txt; end the name in, or give format="):
        copy.export(tmp_path / "a.txt")
    rows = json.loads((tmp_path / "a.json").read_text())
    assert rows == copy.matches.to_dicts()
    assert len(json.loads(copy.export(tmp_path / "k.json", candidates=2).read_text())) == len(copy.candidates(2))
    report = copy.report(tmp_path / "page.html", figures=tmp_path / "figures")
    assert report.path.read_text().startswith("<!DOCTYPE html>")
    assert {path.suffix for path in report.figures} == {".svg"}
    assert "page.html" in report._repr_html_()


def test_explanations(held: Run, folder: Path, tmp_path: Path) -> None:
    row = next(row for row in held.matches if row.decision == "match")
    one, other = held.explain(row.left, row.right), kedge.explain(folder, row.left, row.right)
    assert one.text == other.text == command("explain", folder, row.left, row.right).stdout
    assert one.probability == pytest.approx(row.probability)
    assert json.loads(json.dumps(one.to_dict()))["left"] == row.left
    assert one._repr_html_().startswith("<svg")
    assert one.save(tmp_path / "pair.svg").read_text() == one.svg
    with pytest.raises(kedge.KedgeError, match="exchange the two"):
        held.explain(row.right, row.left)
    with pytest.raises(kedge.KedgeError, match="end the name in .svg"):
        one.save(tmp_path / "pair.png")


@pytest.mark.parametrize("what", ["report()", "review()", "audit()", "decisions", "purge()"])
def test_what_needs_a_directory_names_the_remedy(held: Run, what: str) -> None:
    name = what.removesuffix("()")
    with pytest.raises(kedge.KedgeError, match=re.escape(f"{what} needs a run directory") + '.*out="run"'):
        getattr(held, name) if name == what else getattr(held, name)(*(["x"] if name == "purge" else []))


def test_an_audit_is_answered_in_a_file(copy: Run, tmp_path: Path, pair: SynthPair) -> None:
    drawn = copy.audit(answers=8, out=tmp_path / "sample.csv")
    assert (len(drawn), drawn.precision, drawn.interval) == (8, None, None)
    assert "8 pairs are in the sample, none is answered" in repr(drawn)
    true = set(zip(*pair.anchors.to_pydict().values(), strict=True))
    with (tmp_path / "sample.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "sample.csv").open("w") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "answer": "yes" if (row["left"], row["right"]) in true else "no"} for row in rows)
    found = copy.audit(read=tmp_path / "sample.csv", reviewer="ann")
    assert found.precision is not None
    assert found.interval is not None
    assert found.interval[0] <= found.precision <= found.interval[1]
    assert len(copy.decisions) == 8
    assert copy.decisions.verify() == 8
    assert any(row.source == "audit" for row in copy.matches)
    with pytest.raises(kedge.KedgeError, match="read= reads answers"):
        copy.audit(read=tmp_path / "sample.csv", answers=3)


def test_a_review_in_the_background(copy: Run) -> None:
    assert copy.directory is not None
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    with copy.review(block=False, browser=False) as review:
        assert review.running
        assert opener.open(review.url).status == 200
        assert review.url in review._repr_html_().replace("&amp;", "&")
        with pytest.raises(kedge.KedgeError, match="review.* of this run is open"):
            copy.decide(threshold=0.4)
    assert (review.running, review.ended.head.count) == (False, 0)
    assert "ended" in repr(review)
    with pytest.raises(kedge.KedgeError, match=re.escape("answers= is for an audit; add audit=True")):
        copy.review(answers=3, block=False)
    with pytest.raises(kedge.KedgeError, match="cannot listen on .* port"):
        copy.review(host="203.0.113.1", block=False, browser=False)


def test_decisions_and_purging(copy: Run, tmp_path: Path) -> None:
    assert (len(copy.decisions), copy.decisions.confirmed, copy.decisions.verify()) == (0, (), 0)
    assert copy.decisions.export(confirmed=tmp_path / "yes.tsv") == (tmp_path / "yes.tsv",)
    with pytest.raises(kedge.KedgeError, match="export needs a file"):
        copy.decisions.export()
    gone = next(row.left for row in copy.matches if row.decision == "match")
    purged = copy.purge(gone)
    assert (purged.side, purged.candidates > 0) == ("left", True)
    assert gone not in copy.all()
    with pytest.raises(kedge.KedgeError, match="no account"):
        copy.purge(gone)
    with pytest.raises(kedge.KedgeError, match="no side 'up'"):
        copy.purge(gone, side="up")


def test_a_run_shows_itself(folder: Path) -> None:
    run = kedge.open(folder)
    assert repr(run).startswith(f"<kedge.Run {folder}: ")
    assert "left.tsv" in run._repr_html_()
    assert (run.matches.left_name, run.matches.right_name) == ("left.tsv", "right.tsv")
