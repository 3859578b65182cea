"""What the App may do, against what it needs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.webhook_app.github.stage import Stage
from webhook_app.github import GitHubForge, lacking
from webhook_app.github.granted import EVENTS, PERMISSIONS

pytestmark = pytest.mark.anyio
MANIFEST = json.loads((Path(__file__).parents[3] / "app-manifest.json").read_text())


def test_what_it_needs_is_what_the_manifest_asks_for() -> None:
    assert MANIFEST["default_permissions"] == PERMISSIONS
    assert MANIFEST["default_events"] == [*EVENTS]


async def test_an_app_that_has_everything_lacks_nothing(forge: GitHubForge) -> None:
    assert await lacking(forge.places) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"events": ["push"]}, "The App lacks the event check_run.", id="event"),
        pytest.param(
            {"permissions": {"contents": "read"}}, "The App lacks contents: write.", id="level"
        ),
        pytest.param({"permissions": {}}, "The App lacks members: read.", id="permission"),
    ],
)
async def test_what_the_app_lacks_is_named(
    stage: Stage, forge: GitHubForge, changes: dict[str, Any], said: str
) -> None:
    for name, value in changes.items():
        setattr(stage.app, name, value)
    assert said in await lacking(forge.places)


async def test_what_an_owner_has_not_accepted_is_named(stage: Stage, forge: GitHubForge) -> None:
    stage.installation.permissions = {**PERMISSIONS, "issues": "read"}
    del stage.installation.permissions["members"]
    assert await lacking(forge.places) == ["On acme, an owner has yet to accept members: read."]
