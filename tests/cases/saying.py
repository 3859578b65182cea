"""Deliveries as GitHub sends them, for the cases to change."""

import json
from datetime import UTC, datetime
from typing import Any

from webhook_app.deliveries import Said, read, voice

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
APP, BOT = 1234, 4321
LEE = {"id": 7, "login": "lee", "type": "User"}
HEAD = "c0ffee" * 6 + "beef"
REPOSITORY = {"id": 99, "owner": {"id": 9919, "login": "acme"}}
REVIEW: dict[str, Any] = {
    "action": "submitted",
    "sender": LEE,
    "repository": REPOSITORY,
    "pull_request": {"number": 12},
    "review": {
        "id": 81,
        "user": LEE,
        "state": "approved",
        "body": None,
        "commit_id": HEAD,
        "submitted_at": "2026-12-01T09:59:00Z",
    },
}
COMMENT: dict[str, Any] = {
    "action": "created",
    "sender": LEE,
    "repository": REPOSITORY,
    "issue": {"number": 12, "pull_request": {"url": "https://api.github.com/x"}},
    "comment": {
        "id": 82,
        "user": LEE,
        "body": "/approve",
        "created_at": "2026-12-01T09:59:00Z",
        "performed_via_github_app": None,
    },
}
BUTTON: dict[str, Any] = {
    "action": "requested_action",
    "sender": LEE,
    "repository": REPOSITORY,
    "requested_action": {"identifier": "approve"},
    "check_run": {"id": 83, "head_sha": HEAD, "external_id": "p_1f0c", "app": {"id": APP}},
}


def changed(payload: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The payload with members replaced; `review__state` reaches one level down."""
    new: dict[str, Any] = json.loads(json.dumps(payload))
    for name, value in members.items():
        *outer, last = name.split("__")
        part = new
        for step in outer:
            part = part[step]
        part[last] = value
    return new


def heard_in(event: str, payload: dict[str, Any]) -> Said | None:
    """What Placet hears in one delivery."""
    return voice(read(event, "g-1", json.dumps(payload).encode(), APP, BOT, NOW), APP)
