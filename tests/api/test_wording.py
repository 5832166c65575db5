"""Messages of the command line in the words of Python."""

from __future__ import annotations

import pytest

from kedge.api.wording import in_python

WORDS = {
    "give known pairs (--anchors), or profiles of both networks (--left-profiles, --right-profiles)": (
        "give known pairs (anchors=), or profiles of both networks (left_profiles=, right_profiles=)"
    ),
    "or skip such rows: --skip-bad-rows": 'or skip such rows: settings={"read.bad_rows": "skip"}',
    "exists; use --force": "exists; use force=True",
    "--set pairing.use=yes --set pairing.vectors=mgcn makes use of it": (
        'settings={"pairing.use": "yes"} settings={"pairing.vectors": "mgcn"} makes use of it'
    ),
    "name the two columns with --columns source,target": (
        'name the two columns with settings={"read.columns": "source,target"}'
    ),
    "choose another with --port or --host": "choose another with port= or host=",
    "make one with --new-key KEYFILE": "make one with kedge.make_key",
    "then give it with --key KEYFILE": "then give it with key=",
    "give it without --candidates and --matches-only": "give it without the number of candidates and matches_only=True",
    "a--b and x -- y stay": "a--b and x -- y stay",
}


@pytest.mark.parametrize("text", WORDS)
def test_an_option_is_an_argument(text: str) -> None:
    assert in_python(text) == WORDS[text]
