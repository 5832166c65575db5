"""Settings: presets, files, assignments; unknown keys are refused with the nearest known one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from kedge.config import PRESETS, differences, flatten, resolve, to_toml
from kedge.errors import KedgeError


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_prints_as_toml_and_reads_back_the_same(tmp_path: Path, preset: Any) -> None:
    config = resolve(preset)
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config), "utf-8")
    assert resolve("default", path) == config


def test_later_layers_win(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('seed = 5\n[read]\nheader = "no"\n')
    assert resolve(file=path).seed == 5
    assert resolve(file=path, assignments=["seed=6"]).seed == 6
    assert resolve(file=path, assignments=["seed=6"], overrides={"seed": 7}).seed == 7
    assert resolve(file=path, assignments=["seed=6"]).read.header == "no"


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("read.heder=no", "did you mean 'read.header'"),
        ("sed=3", "did you mean 'seed'"),
        ("qqqqqqqq=3", "see `kedge config`"),
        ("seed", "not of the form name=value"),
        ("seed=-1", "greater than or equal to 0"),
        ("seed=nan", "seed"),
        ("read.header=perhaps", "'auto', 'yes' or 'no'"),
        ("read=3", "no setting 'read'"),
        ("seed.deep=3", "no setting"),
    ],
)
def test_bad_settings_are_refused_in_one_line(assignment: str, words: str) -> None:
    with pytest.raises(KedgeError, match=words) as caught:
        resolve(assignments=[assignment])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("seed = ", "not valid TOML"),
        ("sead = 1", "did you mean 'seed'"),
        (b"\xff\xfe", "UTF-8"),
        (None, "no such file"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, content: Any, words: str) -> None:
    path = tmp_path / "c.toml"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KedgeError, match=words) as caught:
        resolve(file=path)
    assert str(path) in str(caught.value)


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(KedgeError, match="did you mean 'paper'"):
        resolve("papper")
    with pytest.raises(KedgeError, match="default, paper"):
        resolve("fastest")


@pytest.mark.parametrize(
    ("assignments", "words"),
    [
        (["pairing.use=yes", "pairing.refinements=0"], "pairing.use = no"),
        (["pairing.refinements=0"], "pairing.use = no"),
        (["pairing.mixture=[1, 1, 1, 1, 1, 1]"], "pairing.use = yes"),
        (["pairing.use=yes", "pairing.mixture=[1, 1]"], "give six, or none"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(assignments: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        resolve(assignments=assignments)


def test_differences_are_named() -> None:
    old, new = resolve().model_dump(), resolve(assignments=["seed=3"]).model_dump()
    assert differences(old, new) == ["seed: 0 -> 3"]
    assert differences(old, old) == []


def test_settings_are_frozen() -> None:
    config = resolve()
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 3


def test_flatten_and_toml_agree() -> None:
    assert flatten(tomllib.loads(to_toml(resolve(), help_lines=False))) == {
        key: value for key, value in flatten(resolve().model_dump(mode="json")).items() if value is not None
    }


@pytest.mark.parametrize(
    "text", ["seed = " + "[" * 5000, "a." * 20_000 + "b = 1", "seed = " + "{a=" * 3000 + "1" + "}" * 3000]
)
def test_deep_files_are_refused_at_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    with pytest.raises(KedgeError, match="is nested too deeply; see `kedge config`"):
        resolve(file=path)


def test_a_contradiction_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[pairing]\nrefinements = 0\n")
    with pytest.raises(KedgeError, match="mine.toml: pairing = "):
        resolve(file=path, assignments=["seed=3"])


def test_how_much_memory_reading_may_take_is_no_part_of_a_runs_identity() -> None:
    assert resolve().identity() == resolve(assignments=["read.max_memory_mb=100", "engine.workers=3"]).identity()
    assert resolve().identity() != resolve(assignments=["seed=3"]).identity()


def test_under_the_papers_preset_accounts_keep_all_codes_of_latent_hyperedges() -> None:
    hypergraph = resolve("paper").hypergraph
    assert hypergraph.codes == 200
    assert hypergraph.active == 0
