"""`kedge.match` and `kedge.open`: the same results from objects, from files and from the command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from command import kedge as command
from command import match_words

import kedge
from kedge.api import Run, SynthPair

QUICK = {"pairing.use": "no", "method": "evidence"}
SAME = ("config.toml", "decided.json", "evaluation.json", "matches.parquet", "metrics.json")


def test_a_run_directory_has_the_bytes_of_the_command_line(files: Path, folder: Path, tmp_path: Path) -> None:
    command(*match_words(files, tmp_path / "run"))
    for name in SAME:
        assert (folder / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    # The same directory, resumed from Python.
    left, right, train, test = (files / f"{name}.tsv" for name in ("left", "right", "train", "test"))
    again = kedge.match(left, right, train, test=test, out=tmp_path / "run")
    assert again.matches.to_arrow().equals(kedge.open(folder).matches.to_arrow())
    with pytest.raises(kedge.KedgeError, match="other inputs or settings.*force=True"):
        kedge.match(left, right, train, out=tmp_path / "run", seed=4)


def test_memory_and_directory_agree(held: Run, folder: Path) -> None:
    saved = kedge.open(folder)
    for one, other in (
        (held.matches, saved.matches),
        (held.all(), saved.all()),
        (held.candidates(3), saved.candidates(3)),
    ):
        assert one.to_arrow().equals(other.to_arrow())
    assert held.candidates(40).to_arrow().equals(saved.candidates(40).to_arrow()), "more than the run has saved"
    assert held.threshold == saved.threshold
    assert held.metrics.to_dict() == saved.metrics.to_dict()
    assert held.settings.method == saved.settings.method == "kedge"
    assert (held.directory, saved.directory) == (None, folder)


def test_objects_may_have_a_run_directory(pair: SynthPair, tmp_path: Path) -> None:
    first = kedge.match(pair.left, pair.right, pair.train, out=tmp_path / "run", settings=QUICK)
    shuffled = pair.left.to_pandas().sample(frac=1, random_state=0)
    again = kedge.match(shuffled, pair.right, pair.train, out=tmp_path / "run", settings=QUICK)
    assert again.matches.to_arrow().equals(first.matches.to_arrow()), "the order of rows does not matter"
    assert (first.matches.left_name, first.matches.right_name) == ("left", "right")
    with pytest.raises(kedge.KedgeError, match=r"\(left is another file\)"):
        kedge.match(pair.left.slice(3), pair.right, pair.train, out=tmp_path / "run", settings=QUICK)


def test_the_frame_of_every_candidate_is_there_as_before(held: Run, pair: SynthPair) -> None:
    frame = held.to_frame()
    assert {"left", "right", "rank", "score", "probability", "margin", "decision"} <= set(frame.columns)
    best = frame[frame["rank"] == 1].set_index("left")["right"]
    truth = pair.test.to_pandas().set_index("left")["right"]
    shared = truth.index.intersection(best.index)
    assert (best[shared] == truth[shared]).sum() > 0.2 * len(truth), "far above chance"


def test_the_form_of_the_input_does_not_matter(pair: SynthPair) -> None:
    alone = partial(kedge.match, settings=QUICK)
    first = alone(pair.left, pair.right, pair.train).matches.to_arrow()
    left, right, known = pair.left.to_pandas(), pair.right.to_pandas(), pair.train.to_pydict()
    graph = networkx.from_pandas_edgelist(right)
    pairs = dict(zip(*known.values(), strict=True))
    assert alone(left, graph, pairs).matches.to_arrow().equals(first)
    assert (
        alone(polars.from_arrow(pair.left), list(right.itertuples(index=False)), list(pairs.items()))
        .matches.to_arrow()
        .equals(first)
    )


def _numbered(pair: SynthPair) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """The left network and the anchors with whole numbers as left ids."""
    left, known = pair.left.to_pandas(), pair.train.to_pandas()
    number = {name: place for place, name in enumerate(sorted({*left["source"], *left["target"], *known["left"]}))}
    return left.replace(number).infer_objects(), known.assign(left=known["left"].map(number))


def test_whole_numbers_on_one_side_and_text_on_the_other(pair: SynthPair) -> None:
    left, known = _numbered(pair)
    plain = kedge.match(left, pair.right, known, settings=QUICK)
    name = int(known["left"][0])
    assert plain.matches[name].right == known["right"][0], "an id is found by its number and by its text"
    assert plain.matches[str(name)] == plain.matches[name]
    forms: list[Any] = [list(known.itertuples(index=False)), dict(zip(known["left"], known["right"], strict=True))]
    for anchors in (*forms, known.to_numpy(), polars.from_pandas(known)):
        found = kedge.match(left, pair.right, anchors, settings=QUICK)
        assert found.matches.to_arrow().equals(plain.matches.to_arrow())


def test_a_column_of_numbers_and_text_is_read_as_text(pair: SynthPair) -> None:
    left, known = _numbered(pair)
    plain = kedge.match(left, pair.right, known, settings=QUICK).matches.to_arrow()
    mixed = left.astype(object)
    mixed.loc[::2, "source"] = [str(one) for one in mixed.loc[::2, "source"]]
    assert kedge.match(mixed, pair.right, known, settings=QUICK).matches.to_arrow().equals(plain)
    mixed.loc[1, "source"] = 1.5
    with pytest.raises(kedge.KedgeError, match="'source' has text and the decimal number 1.5; make all of it text"):
        kedge.match(mixed, pair.right, known, settings=QUICK)


def test_arguments_are_settings(pair: SynthPair) -> None:
    run = kedge.match(
        pair.left, pair.right, pair.train, method="evidence", precision=0.9, counterparts="0.5-0.7", seed=4
    )
    chosen = run.settings
    assert (chosen.method, chosen.decide.precision, chosen.decide.counterparts, chosen.seed) == (
        "evidence",
        0.9,
        "0.5-0.7",
        4,
    )


def test_profiles_by_one_argument_or_by_two(tmp_path: Path) -> None:
    pair = kedge.synth(nodes=120, seed=5, profiles="easy")
    quick = partial(kedge.match, pair.left, pair.right, pair.train, settings=QUICK)
    one = quick(profiles=(pair.left_profiles, pair.right_profiles))
    two = quick(left_profiles=pair.left_profiles, right_profiles=pair.right_profiles.to_pandas())
    assert one.matches.to_arrow().equals(two.matches.to_arrow())
    with pytest.raises(kedge.KedgeError, match="profiles= together with left_profiles="):
        quick(profiles=(pair.left_profiles, pair.right_profiles), left_profiles=pair.left_profiles)
    with pytest.raises(kedge.KedgeError, match=r"profiles= is not a pair; give profiles=\(left, right\)"):
        quick(profiles=pair.left_profiles)


MISTAKES: dict[str, tuple[Any, str]] = {
    "swapped sides": (lambda p: kedge.match(p.right, p.left, p.train), "swapped.*exchange the two columns"),
    "a setting misspelt": (lambda p: kedge.match(p.left, p.right, p.train, settings={"methd": "x"}), "did you mean"),
    "no anchors": (lambda p: kedge.match(p.left, p.right), "no anchors.*anchors=.*left_profiles="),
    "empty anchors": (lambda p: kedge.match(p.left, p.right, {}), "no anchors; give at least one"),
    "no such file": (lambda p: kedge.match("nowhere.csv", p.right, p.train), "nowhere.csv"),
    "no such method": (lambda p: kedge.match(p.left, p.right, p.train, method="kegde"), "kegde"),
    "no such preset": (lambda p: kedge.match(p.left, p.right, p.train, preset="x"), "no preset 'x'; choose one of"),
    "a number as network": (lambda p: kedge.match(3, p.right, p.train), "cannot read a network or pairs from"),
    "a number as directory": (lambda p: kedge.match(p.left, p.right, p.train, out=3), "out= is int, not a path"),
    "a precision of two": (lambda p: kedge.match(p.left, p.right, p.train, precision=2), "decide.precision = 2"),
    "a share of two": (lambda p: kedge.match(p.left, p.right, p.train, counterparts="2"), "counterparts=: a share"),
    "settings as text": (
        lambda p: kedge.match(p.left, p.right, p.train, settings="candidates=3"),
        "settings= is str, not a dictionary",
    ),
    "a progress of text": (lambda p: kedge.match(p.left, p.right, p.train, progress="yes"), "progress= is str"),
    "no run": (lambda _: kedge.open("nowhere"), "nowhere"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_its_cause(pair: SynthPair, mistake: str) -> None:
    act, words = MISTAKES[mistake]
    with pytest.raises(kedge.KedgeError, match=words) as error:
        act(pair)
    assert "\n" not in str(error.value)
    assert "--" not in str(error.value), "no option of the command line"


def test_a_damaged_run_is_found_when_it_is_read(copy: Run) -> None:
    assert copy.directory is not None
    path = copy.directory / "matches.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(kedge.KedgeError, match="matches.parquet"):
        _ = copy.matches


def test_the_arrow_table_is_readable_by_others(held: Run) -> None:
    table = pa.table(held.matches)
    assert table.equals(held.matches.to_arrow())
    assert np.array_equal(polars.DataFrame(held.matches)["left"].to_list(), table["left"].to_pylist())
