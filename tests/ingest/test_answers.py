"""Answers to the sample of an audit, read back from what a spreadsheet or an editor made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.errors import KedgeError
from kedge.ingest.answers import read_answers

PAIRS = [("a1", "b1"), ("=a2", "b2"), ("a3", "b3")]


def words(path: Path, content: str, encoding: str = "utf-8") -> list[tuple[str, str, str]]:
    path.write_bytes(content.encode(encoding))
    return [(one.left, one.right, one.word) for one in read_answers(path, PAIRS)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_write_is_read(tmp_path: Path, delimiter: str, encoding: str) -> None:
    rows = ["left,right,answer,stratum", "a1,b1,YES,match", "'=a2, b2 ,n,match", '"a3","b3",,below', ",,,", ""]
    text = "\r\n".join(rows).replace(",", delimiter)
    assert words(tmp_path / "s.csv", text, encoding) == [("a1", "b1", "yes"), ("=a2", "b2", "no")]


def test_columns_may_stand_in_any_order_and_an_answer_may_be_repeated(tmp_path: Path) -> None:
    assert words(tmp_path / "s.csv", "Answer,right,left\nunsure,b1,a1\n?,b1,a1\n") == [("a1", "b1", "unsure")]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("left,right,answer\na1,b2,yes\n", 2, "the pair (a1, b2) is not in the sample"),
        ("left,right,answer\na1,b1,yes\nnew,b1,no\n", 3, "the pair (new, b1) is not in the sample"),
        ("left,right,answer\na1,b1,yes\na1,b1,no\n", 3, "is answered no here and yes in line 2"),
        ("left,right,answer\na1,b1,yess\n", 2, "no answer 'yess'; did you mean 'yes'?"),
        ("left,right,answer\na1,b1,1\n", 2, "no answer '1'; write yes, no or unsure"),
        ("left,right\na1,b1\n", 1, "no column 'answer'"),
        ("a1,b1,yes\n", 1, "no column 'left'"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, content: str, line: int, problem: str) -> None:
    with pytest.raises(KedgeError) as caught:
        words(tmp_path / "s.csv", content)
    assert str(caught.value).startswith(f"{tmp_path / 's.csv'}:{line}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_text_and_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KedgeError, match="is empty"):
        words(tmp_path / "s.csv", "")
    with pytest.raises(KedgeError):
        read_answers(tmp_path / "absent.csv", PAIRS)
    (tmp_path / "s.csv").write_bytes(b"left,right,answer\n\xff\xfe\xfa,b1,yes\n")
    with pytest.raises(KedgeError):
        read_answers(tmp_path / "s.csv", PAIRS)
