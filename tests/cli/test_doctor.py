"""`kedge doctor`: the machine, the libraries and the extras."""

from __future__ import annotations

import json

import pytest
from command import kedge

from kedge.context import extras


def test_doctor_shows_the_machine_and_the_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = json.loads(kedge("doctor", "--json").stdout)
    assert facts["cores"] >= 1
    assert facts["libraries"]["torch"] != "missing"
    assert facts["extras"] == dict.fromkeys(extras.EXTRAS, True)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert "not installed: pip install 'kedge[mgcn]'" in " ".join(kedge("doctor").stdout.split())
