"""Progress from Python: silent unless asked for, lines on stderr, a bar in a notebook."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import kedge
from kedge.api.progress import Bar, Lines, progress_of
from kedge.context import Silent


def test_nothing_is_shown_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    pair = kedge.synth(nodes=60, seed=1)
    assert capsys.readouterr() == ("", "")
    pair = kedge.synth(nodes=60, seed=1, progress=True)
    assert capsys.readouterr() == ("", "kedge: planting a pair ...\n")
    assert len(pair.left)


def test_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Lines()
    shown.stage("training")
    shown.note("once\x1b")
    shown.note("once\x1b")
    shown.advance(1, 4, "soon")
    monkeypatch.setattr("kedge.api.progress._PLAIN", -1.0)
    shown.advance(2, 4, "half")
    shown.stage("scoring", done=True)
    expected = ["training ...", "once\N{REPLACEMENT CHARACTER}", "training: 50% half", "scoring: already done"]
    assert capsys.readouterr().err.splitlines() == [f"kedge: {line}" for line in expected]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook would have shown: IPython with a kernel, of which only the display is there."""
    drawn: list[str] = []
    python, display = ModuleType("IPython"), ModuleType("IPython.display")
    handle = SimpleNamespace(update=drawn.append)
    display.HTML = lambda text: text

    def show(text: Any, display_id: bool) -> Any:
        drawn.append(text)
        return handle

    display.display = show
    python.get_ipython = lambda: SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return drawn


def test_a_notebook_has_a_bar(pages: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.api.progress._INTERVAL", -1.0)
    shown = progress_of(True)
    assert isinstance(shown, Bar)
    shown.stage("training <b>")
    assert "<progress " in pages[-1]
    assert "value=" not in pages[-1], "a bar that moves, as no share is known"
    assert "training &lt;b&gt;" in pages[-1]
    shown.advance(1, 4, "one of four")
    assert 'value="0.250"' in pages[-1]
    assert "25% one of four" in pages[-1]
    shown.note("a note")
    shown.note("a note")
    assert pages[-1].count("a note") == 1


def test_what_may_be_given() -> None:
    assert isinstance(progress_of(None), Silent)
    assert isinstance(progress_of(False), Silent)
    own = Silent()
    assert progress_of(own) is own
    with pytest.raises(kedge.KedgeError, match="progress= is int; give True, or an object with note"):
        progress_of(1)
