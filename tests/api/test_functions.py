"""The functions beside `match`: check, synth, compare, embed, pseudonymise, and what kedge runs on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
from command import kedge as command

import kedge
from kedge.api import SynthPair


def test_check_has_the_facts_of_the_command(pair: SynthPair, files: Path) -> None:
    left, right, train = (files / f"{name}.tsv" for name in ("left", "right", "train"))
    found = kedge.check(left, right, train)
    printed = json.loads(command("check", left, right, "-a", train, "--json").stdout)
    assert json.loads(json.dumps(found.to_dict())) == printed
    assert found.left["accounts"] == 150
    assert "Networks" in repr(found)
    assert "accounts without edges" in found._repr_html_()
    assert "will take roughly" in repr(found)
    same = kedge.check(pair.left, pair.right.to_pandas(), dict(zip(*pair.train.to_pydict().values(), strict=True)))
    assert same.anchors["edges_both"] == found.anchors["edges_both"]
    with pytest.raises(kedge.KedgeError, match="no anchors to examine; give them with anchors="):
        kedge.check(left, right, suspects=True)


def test_suspects_are_a_table(pair: SynthPair) -> None:
    wrong = pair.train.to_pydict()
    wrong["right"][:3] = wrong["right"][1:3] + wrong["right"][:1]
    found = kedge.check(pair.left, pair.right, list(zip(*wrong.values(), strict=True)), suspects=True)
    assert found.suspects.columns == ("left", "right", "wrong", "better_right", "better_left")
    assert found.suspects_examined == len(pair.train)
    assert f"{len(found.suspects)} of {found.suspects_examined} anchors are contradicted" in repr(found)


def test_synth_makes_what_the_command_writes(tmp_path: Path) -> None:
    made = kedge.synth(nodes=80, seed=2, profiles="easy", out=tmp_path / "one")
    command("synth", "-o", tmp_path / "two", "--nodes", 80, "--seed", 2, "--profiles", "easy")
    written = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert written == sorted(path.name for path in (tmp_path / "two").iterdir())
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in written)
    assert made.left.num_rows == 400
    assert made.train.num_rows + made.test.num_rows == made.anchors.num_rows == 60
    assert made.left_profiles.column_names[0] == "id"
    cut = kedge.synth(made.left, alpha_s=0.8, alpha_c=0.8, seed=1)
    assert 0 < cut.left.num_rows < 400
    assert cut.left_profiles is None
    for wrong, words in (({"profiles": "brutal"}, "no difficulty"), ({"nodes": -1}, "left_nodes is -1")):
        with pytest.raises(kedge.KedgeError, match=words):
            kedge.synth(**wrong)
    with pytest.raises(kedge.KedgeError, match="is not empty.*force=True"):
        made.write(tmp_path / "one")


def test_compare_takes_objects(pair: SynthPair, tmp_path: Path) -> None:
    graph = networkx.from_pandas_edgelist(pair.right.to_pandas())
    known = dict(zip(*pair.anchors.to_pydict().values(), strict=True))
    methods = ["common-neighbours", "user-matching"]
    found = kedge.compare(pair.left, graph, known, methods=methods, seeds=1, out=tmp_path / "cells")
    assert len(found) == 2
    assert found.best in methods
    assert list(found.to_pandas()["method"]) == methods
    assert "Hits@1" in repr(found)
    assert "common-neighbours" in found._repr_html_()
    assert found.failed == {}
    assert found.plot(tmp_path / "it.svg").stat().st_size > 0
    again = kedge.compare(pair.left, graph, known, methods=",".join(methods), seeds=1, out=tmp_path / "cells")
    assert again.to_dict() == found.to_dict(), "resumed"
    with pytest.raises(kedge.KedgeError, match="no method 'kegde'; did you mean 'kedge'"):
        kedge.compare(pair.left, graph, known, methods="kegde")
    with pytest.raises(kedge.KedgeError, match="nothing to compare on; give left, right and anchors"):
        kedge.compare(pair.left, graph)
    assert {"kedge", "mgcn", *methods} <= set(kedge.list_methods())


def test_a_script_need_not_be_written_for_processes(files: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    words = ", ".join(repr(str(files / f"{name}.tsv")) for name in ("left", "right", "anchors"))
    script.write_text(f"import kedge\nprint(kedge.compare({words}, methods='common-neighbours', seeds=1).failed)\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == "{}\n", done.stderr


def test_vectors(pair: SynthPair, tmp_path: Path) -> None:
    settings = {"mgcn.dimensions": 8, "mgcn.steps": 10}
    one = kedge.embed(pair.left, settings=settings)
    assert one.vectors.shape == (len(one.ids), 8) == (150, 8)
    assert np.array_equal(one.left[one.ids[3].as_py()], one.vectors[3])
    with pytest.raises(KeyError, match="no account 'nowhere' among the vectors"):
        one.left["nowhere"]
    assert one.left.to_arrow().column_names == ["id", "vector"]
    assert one.save(tmp_path / "v.npz", card=tmp_path / "card.md").exists()
    assert "MGCN" in (tmp_path / "card.md").read_text()
    both = kedge.embed(pair.left, pair.right, pair.train, settings=settings, out=tmp_path / "both.parquet")
    assert (both.left.side, both.right.side, len(both)) == ("left", "right", 300)
    assert (tmp_path / "both.parquet").exists()
    with pytest.raises(kedge.KedgeError, match="two networks are embedded by their anchors.*anchors="):
        kedge.embed(pair.left, pair.right)


def test_pseudonyms_and_the_way_back(files: Path, tmp_path: Path) -> None:
    key = kedge.make_key(tmp_path / "key")
    left, known = files / "left.tsv", files / "train.tsv"
    made = kedge.pseudonymise(left, tmp_path / "copies", key=key, anchors=[known], map=tmp_path / "map.csv")
    assert [row["file"] for row in made.files] == ["left.tsv", "train.tsv"]
    assert "a000" not in (tmp_path / "copies" / "left.tsv").read_text()
    back = kedge.pseudonymise([tmp_path / "copies" / "left.tsv"], tmp_path / "back", reverse=tmp_path / "map.csv")
    assert back.files[0]["rows"] == made.files[0]["rows"]
    assert "a000" in (tmp_path / "back" / "left.tsv").read_text()
    with pytest.raises(kedge.KedgeError, match="no key; make one with kedge.make_key, then give it with key="):
        kedge.pseudonymise(left, tmp_path / "other")
    with pytest.raises(kedge.KedgeError, match="nothing to copy; give files and out="):
        kedge.pseudonymise(left)


def test_the_installation(tmp_path: Path) -> None:
    facts = kedge.doctor()
    assert facts.kedge == kedge.__version__
    assert facts.cores_usable >= 1
    assert "library numpy" in repr(facts)
    written = kedge.example(tmp_path)
    assert sorted(path.name for path in written.values()) == sorted(path.name for path in tmp_path.iterdir())
    assert str(kedge.Config())
