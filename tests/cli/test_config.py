"""`kedge config`: every setting with help."""

from __future__ import annotations

import json

from command import kedge


def test_config_prints_toml_with_help() -> None:
    text = kedge("config", "--preset", "paper").stdout
    assert "# seed of all random numbers" in text
    assert json.loads(kedge("config", "--json", "--set", "seed=4").stdout)["seed"] == 4
