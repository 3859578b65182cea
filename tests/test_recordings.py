"""What GitHub once sent, against what GitHub says it sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.judge import Judge

DATA = Path(__file__).parent / "data"
RECORDED: list[dict[str, Any]] = json.loads((DATA / "webhooks-examples-subset.json").read_bytes())
KNOWN_INVALID: dict[str, str] = json.loads((DATA / "known-invalid-examples.json").read_bytes())
PAYLOADS = {
    f"{entry['name']}/{payload.get('action', '-')}/{index}": payload
    for entry in RECORDED
    for index, payload in enumerate(entry["examples"])
}


@pytest.mark.parametrize("key", PAYLOADS)
def test_github_refuses_exactly_the_recordings_we_know_it_refuses(judge: Judge, key: str) -> None:
    event = key.split("/", maxsplit=1)[0]
    refused = bool(judge.webhook(event, PAYLOADS[key], closed=False))
    assert refused == (key in KNOWN_INVALID)


def test_every_known_invalid_recording_is_still_there() -> None:
    assert KNOWN_INVALID.keys() <= PAYLOADS.keys()
    assert (len(PAYLOADS), len(KNOWN_INVALID)) == (86, 44)
